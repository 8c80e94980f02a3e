"""Ops in terms of smaller ones: torch's own decompositions, and those that torch lacks."""
