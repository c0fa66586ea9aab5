"""Compiled kernels that take and return arrays and import no other module of mdfuzzy."""
