"""A backend that writes C: the smallest whole code generator behind lazycore."""

__version__ = "0.1.0"
