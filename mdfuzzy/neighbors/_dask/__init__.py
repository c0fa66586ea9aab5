"""The neighbour search on the workers of a Dask cluster."""
