"""Slow, obvious twins of the compiled kernels: what the tests compare with."""
