"""Level 5: what only shows after a while, or when something goes wrong beside the backend."""
