"""Differences between ensembles that were clustered together."""
