"""OpenVINO as a backend of lazycore, written against lazycore-plugin-api alone."""

__version__ = "0.1.0"
