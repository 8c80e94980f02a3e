"""Exporting a module: recorded once, compiled, and written into a file that runs without PyTorch."""
