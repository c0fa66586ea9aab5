"""Density, persistence and cores: the metastable states."""
