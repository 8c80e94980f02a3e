"""The reference backend: what each op means, in plain NumPy."""
