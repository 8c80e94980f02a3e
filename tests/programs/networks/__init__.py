"""Small versions of the networks that people train, in plain torch."""
