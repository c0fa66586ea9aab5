"""Run by the Python of PyEMMA's own environment: regular-space clustering of frames by their minimal RMSD.

python regular_space.py frames.npy distance max_centres result.npz
"""

import os
import sys
import time

import numpy as np
import pyemma


def main() -> None:
    """Cluster (n, 3 * atoms) coordinates in nm, and keep the discrete trajectory and the seconds."""
    frames, distance, most, result = sys.argv[1:]
    coordinates = np.load(frames)
    start = time.perf_counter()
    options = {"dmin": float(distance), "max_centers": int(most), "n_jobs": int(os.environ["PYEMMA_NJOBS"])}
    clustering = pyemma.coordinates.cluster_regspace(coordinates, metric="minRMSD", **options)
    labels = clustering.dtrajs[0]
    seconds = time.perf_counter() - start
    np.savez(result, labels=labels, centres=len(clustering.clustercenters), seconds=seconds)


if __name__ == "__main__":
    main()
