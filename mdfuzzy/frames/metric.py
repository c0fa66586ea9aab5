"""Metrics, which define how two frames are compared."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """How two frames are compared; all later steps use this, never the type of the data.

    Attributes
    ----------
    name : str
        The distance in words.
    unit : str
        The unit of the distance; empty if it has none.
    superpose : bool
        Whether every pair of frames is superposed before it is compared. The points of the data are then
        centred coordinates, (n, atoms, 3). Otherwise they are vectors, (n, d), and the distance between two
        frames is the Euclidean distance.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.datasets.alanine_dipeptide(stride=100).metric
    Metric(name='RMSD', unit='nm', superpose=True)
    >>> mf.Features([[[0.0], [1.0]]]).metric.superpose
    False
    """

    name: str
    unit: str
    superpose: bool


#: RMSD after the best superposition of each pair.
RMSD = Metric("RMSD", "nm", superpose=True)
#: Euclidean distance between feature vectors.
EUCLIDEAN = Metric("Euclidean distance", "", superpose=False)


def rmsd_metric(*, aligned: bool = False, mass_weighted: bool = False, symmetric: bool = False) -> Metric:
    """Return the metric of frames of coordinates.

    Parameters
    ----------
    aligned : bool
        Whether frames were superposed on a reference structure by some atoms and are compared by others,
        instead of superposing each pair.
    mass_weighted : bool
        Whether atoms are weighted by their masses.
    symmetric : bool
        Whether the distance is the least over permutations of equivalent atoms.

    Examples
    --------
    >>> rmsd_metric(aligned=True, symmetric=True).name
    'symmetry-corrected RMSD after alignment'
    """
    words = ["symmetry-corrected"] * symmetric + ["mass-weighted"] * mass_weighted + ["RMSD"]
    return Metric(" ".join(words + ["after alignment"] * aligned), "nm", superpose=not aligned)
