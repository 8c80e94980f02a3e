"""Shape functions by family: from an op's arguments to the shapes of its outputs.

Each takes a call and the names of the arguments to read, and yields one shape per output; None for an output that was
not asked for or that the op leaves open. All shapes are static.
"""
