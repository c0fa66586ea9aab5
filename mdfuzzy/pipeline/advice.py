"""Advice on whether features suit a molecule better than RMSD, and which options to try."""

import numpy as np

from mdfuzzy._messages import counted, duration
from mdfuzzy.features.featurizer import MAX_FEATURES
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.pipeline.clustering import Clustering

#: Molecules of fewer residues are peptides, which a few torsions describe completely.
_PEPTIDE = 8
#: Above this fraction of neighbours in time, neighbours carry little information about conformations.
_IN_TIME = 0.5
#: Above this dimension the distances to near and to far frames are too similar for a density estimate.
_DIMENSION = 8.0
#: With fewer exits from a state, the time in it is not known.
_EXITS = 10
#: Below this ratio to the time in random order a state does not last; a kinetic state needs 5.
_RATIO = 2.0


def neighbors_in_time(result: Clustering) -> float:
    """Return the fraction of neighbours in the same trajectory that are at most k frames away.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> neighbors_in_time(mf.cluster(mf.datasets.alanine_dipeptide(stride=10))) < 0.1
    True
    """
    fit = result if result.sample is None else result.sample.fit  # which the neighbours belong to
    assert fit.data is not None
    indices = np.asarray(fit.neighbors.indices[:, : fit.k])
    trajectory = np.repeat(np.arange(fit.data.n_trajectories), fit.data.lengths)
    near = np.abs(indices - np.arange(len(indices))[:, None]) <= fit.k
    return float(np.mean(near & (trajectory[indices] == trajectory[:, None])))


def feature_advice(result: Clustering) -> str | None:
    """Return a sentence with options to try if RMSD is a poor metric for a flexible molecule; else None.

    RMSD is a poor metric if most neighbours of a frame are just the frames before and after it. It also is if
    the frames fill so many dimensions that all are about equally far apart, and the states are not well
    determined or do not last.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> feature_advice(mf.cluster(mf.datasets.alanine_dipeptide(stride=10))) is None
    True
    """
    data = result.data
    if data is None or not data.metric.superpose or data.topology is None:
        return None
    in_time = neighbors_in_time(result)
    unclear = result.n_states == 1 or not result.tree.well_determined or _do_not_last(result)
    if in_time < _IN_TIME and not (unclear and result.dimension >= _DIMENSION):
        return None
    why = (
        f"{100 * in_time:.0f} % of the {result.k} nearest neighbours of a frame are at most "
        f"{result.k} frames before or after it"
        if in_time >= _IN_TIME
        else f"the frames fill about {result.dimension:.0f} dimensions, where RMSD cannot tell near from far"
    )
    states = counted(result.n_states, "state")
    return (
        f"RMSD shows {states}, but {why}. Features may show the slow motions better: rerun with "
        f"{_options(data, data.topology.n_residues)} and another -o."
    )


def _options(data: Trajectories, n_residues: int) -> str:
    """Return the options for features to try: for peptides torsions, for proteins slow components."""
    if (len(data.residues) or n_residues) < _PEPTIDE:
        return "--features torsions"
    options = "--features distances"
    if n_residues * (n_residues - 1) // 2 > MAX_FEATURES:
        options = "--features torsions" if data.residues else "--features coordinates"
    if data.timestep is not None:
        span = data.timestep * int(data.lengths.max())
        options += f" --tica {_lag(max(data.timestep, min(1e4, span / 100)))}"
    return options


def _do_not_last(result: Clustering) -> bool:
    """Return whether the molecule leaves every state about as soon as frames in random order would.

    Such states differ in their structure only. In many dimensions they are often flips of side chains.
    """
    splits = result.splits
    if splits is None:
        return False
    states = splits.states >= 0
    exits, ratio = splits.exits[states], (splits.dwell / splits.shuffled)[states]
    return "kinetic" not in splits.verdicts and bool((exits >= _EXITS).all() and (ratio < _RATIO).all())


def _lag(picoseconds: float) -> str:
    """Return a lag time in the format of ``--tica``."""
    return duration(picoseconds, "ps").replace(" ", "").replace("µ", "u")
