"""What ATen computes inside of XLA's programs on a CPU, where PyTorch is there and is faster: convolutions."""
