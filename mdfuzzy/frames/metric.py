"""The metric: how two frames are compared."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """How two frames are compared. Every step after the data asks for this, never for the type of the data.

    Attributes
    ----------
    name : str
        The distance in words.
    unit : str
        The unit of the distance; empty if it has none.
    superpose : bool
        Whether every pair of frames is superposed before it is compared. The points of the data then are
        centred coordinates, (n, atoms, 3); otherwise they are vectors, (n, d), and the distance between two
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
#: RMSD with every atom weighted by its mass, after the best superposition of each pair.
MASS_RMSD = Metric("mass-weighted RMSD", "nm", superpose=True)
#: RMSD of some atoms after the superposition of others on a reference structure.
ALIGNED_RMSD = Metric("RMSD after alignment", "nm", superpose=False)
#: The same with every atom weighted by its mass.
ALIGNED_MASS_RMSD = Metric("mass-weighted RMSD after alignment", "nm", superpose=False)
