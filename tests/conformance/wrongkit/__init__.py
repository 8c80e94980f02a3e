"""Backends that are wrong on purpose, each in one way, and a right one."""
