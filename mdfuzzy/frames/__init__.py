"""Trajectories as frames or features: reading files, arrays and MDAnalysis universes."""
