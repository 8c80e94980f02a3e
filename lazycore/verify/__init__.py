"""Finding the op that a backend gets wrong: every segment is also computed by eager execution, and the first one that
differs is reduced to the fewest ops that still do."""
