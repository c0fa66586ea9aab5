"""
States for other programs
=========================

Cluster trajectories, and write files for other programs: discrete trajectories and memberships for PyEMMA,
structures and trajectories of the states for a molecular viewer, a table for everything else. Run as
``python export_states.py FOLDER``; files of an earlier run are replaced.
"""

import sys
from pathlib import Path

import mdfuzzy as mf

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "exported")
frames = mf.datasets.alanine_dipeptide(stride=5)  # your own: mf.load("run*.xtc", top="protein.pdb")
result = mf.cluster(frames)
print(result.transition_regions.table())

mf.exports.write_structures(folder / "structures", result, n=10, overwrite=True)
mf.exports.write_trajectories(folder / "trajectories", result, overwrite=True)
mf.exports.write_table(folder / "frames.csv", result, overwrite=True)
mf.exports.write_pyemma(folder / "pyemma", result, lag=20, overwrite=True)
for path in sorted(folder.rglob("[!.]*")):
    print(path)
