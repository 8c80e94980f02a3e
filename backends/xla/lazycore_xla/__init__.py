"""lazycore-xla: XLA, by way of jax, as a codegen backend of lazycore."""

__version__ = "0.1.0"
