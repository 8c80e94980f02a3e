"""The recorder: what a program asked for, as a path through a tree of everything it has asked for before. No torch here."""
