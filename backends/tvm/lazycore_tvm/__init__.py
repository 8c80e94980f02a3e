"""lazycore-tvm: Apache TVM as a codegen backend of lazycore."""

__version__ = "0.1.0"
