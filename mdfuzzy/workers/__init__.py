"""The workers of a Dask cluster: the one place that imports Dask."""
