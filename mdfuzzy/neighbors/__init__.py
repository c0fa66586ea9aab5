"""The nearest neighbours of every frame, and the graph that they span."""
