"""Compiled kernels: arrays in, arrays out. Nothing here imports another module of mdfuzzy."""
