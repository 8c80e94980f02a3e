"""The recorder: what a program asks for, as a path through a tree of all it has asked for before. Knows no torch."""
