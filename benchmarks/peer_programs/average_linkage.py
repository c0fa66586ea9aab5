"""Run by the Python of pytraj's own environment: cpptraj's hierarchical clustering of frames by RMSD.

python average_linkage.py top.pdb frames.dcd clusters sieve result.npz
"""

import os
import sys
import tempfile
import time

import numpy as np
import pytraj


def main() -> None:
    """Cluster one frame in `sieve`, and give the others to the nearest centroid."""
    topology, frames, clusters, sieve, result = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "clusters.dat")
        start = time.perf_counter()
        state = pytraj.load_cpptraj_state(
            f"parm {topology}\ntrajin {frames}\n"
            f"cluster hieragglo averagelinkage clusters {clusters} rms @* sieve {sieve} out {table}\n"
        )
        state.run()
        seconds = time.perf_counter() - start
        labels = np.loadtxt(table, dtype=np.int64)[:, 1]
    np.savez(result, labels=labels, seconds=seconds)


if __name__ == "__main__":
    main()
