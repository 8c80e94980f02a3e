"""The lowering tests: one op at a time, through a backend's own hooks, against PyTorch on CPU."""
