"""Ways to run a training step, a module for each framework, so that a process imports only the one that it measures.

Each has ``step(program, compiled=False) -> Step``. All begin with the same parameters and minimize the same loss.
"""
