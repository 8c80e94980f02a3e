"""Backends, graphs and an interpreter made up for the tests of compiler and runtime."""
