"""The random walk to the cores: fuzzy memberships."""
