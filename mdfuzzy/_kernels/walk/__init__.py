"""Kernels of the random walk and of its solver."""
