"""
The picture of the README
=========================

Frames, states and transitions of the bundled alanine dipeptide, written to ``docs/overview.png``:
``python examples/readme_picture.py``.
"""

from pathlib import Path

import mdfuzzy as mf

if __name__ == "__main__":
    result = mf.cluster(mf.datasets.alanine_dipeptide())
    path = Path(__file__).parents[1] / "docs" / "overview.png"
    mf.plots.overview(result).savefig(path, dpi=150)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
