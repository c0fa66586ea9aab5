"""Kernels of the neighbour search."""
