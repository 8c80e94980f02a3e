"""Programs on the device: their results must be those of the same program on the CPU."""
