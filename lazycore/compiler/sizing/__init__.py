"""Programs for all sizes: segments that differ in nothing but sizes, and the one executable that serves them."""
