"""PyTorch's own databases of operators and modules, run on the CPU and on the device."""
