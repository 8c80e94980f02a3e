"""Graph cases: one node of the IR, arrays in, arrays out. No torch takes part on the backend's side."""
