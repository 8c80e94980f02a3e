"""The command ``lazycore``."""
