"""lazycore-tvm: Apache TVM as a codegen backend of lazycore."""
