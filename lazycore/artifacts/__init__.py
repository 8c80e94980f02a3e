"""Compiled programs on disk: what names them, how they are written, where they are kept."""
