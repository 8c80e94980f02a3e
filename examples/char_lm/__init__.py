"""A small character language model: ordinary PyTorch that knows nothing of the device it runs on."""
