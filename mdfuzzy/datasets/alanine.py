"""Simulated alanine dipeptide, bundled with the package."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mdfuzzy.frames.frames import Frames

_FOLDER = Path(__file__).parent / "ala2"


def alanine_dipeptide(*, stride: int = 1) -> "Frames":
    """Load 6 ns of simulated alanine dipeptide: 30,000 frames in two trajectories, with five states.

    The data are two pieces, each contiguous in time, with a frame every 0.2 ps. The first piece starts at
    phi > 0 and leaves this region; the second enters and leaves it. Use them to find states and transitions,
    not to estimate populations (phi > 0 is over-represented) or slow kinetics (only two exits from positive
    phi occur): see `provenance`.

    Parameters
    ----------
    stride : int
        Load every Nth frame. With a stride of 10 (2 ps) or more, the smallest state has too few frames to
        be found.

    Returns
    -------
    Frames
        The ten heavy atoms, with times and with phi and psi of the alanine.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.datasets.alanine_dipeptide()
    Frames(30,000 frames of 10 atoms in 2 trajectories; 6 ns, a frame every 0.2 ps; phi and psi of ALA2)
    """
    from mdfuzzy.frames.loading import load

    return load([_FOLDER / "ala2_00.xtc", _FOLDER / "ala2_03.xtc"], top=_FOLDER / "ala2.pdb", stride=stride)


def folder() -> Path:
    """Return the folder with the trajectories, ``ala2_00.xtc`` and ``ala2_03.xtc``, and ``ala2.pdb``.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> sorted(path.name for path in mf.datasets.folder().glob("ala2*"))
    ['ala2.pdb', 'ala2_00.xtc', 'ala2_03.xtc']
    """
    return _FOLDER


def provenance() -> str:
    """Return a description of the data: the simulation, and suitable uses.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.datasets.provenance().splitlines()[0]
    '# Alanine dipeptide: 30,000 frames, 6 ns'
    """
    return (_FOLDER / "README.md").read_text(encoding="utf-8")
