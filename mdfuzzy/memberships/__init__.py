"""Fuzzy memberships: the random walk that the cores absorb."""
