"""The features by which states are described if none are given."""

import os
from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy.features.featurizer import Featurizer
from mdfuzzy.features.functions import Function
from mdfuzzy.frames.features import Features
from mdfuzzy.frames.trajectories import Trajectories

#: The largest number of frames of each state that are read again, and of values that are computed from them
#: (80 MB). The frames of a state are correlated: the interval of a mean would hardly shrink with more.
_FRAMES, _VALUES = 10_000, 20_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Description:
    """Features of some frames.

    Attributes
    ----------
    features : Trajectories
        The features, with a row for each of these frames.
    frames : (m,) int64
        The frames, in ascending order.
    """

    features: Trajectories
    frames: np.ndarray


def has_features(data: Trajectories | None) -> bool:
    """Return whether the states of these data can be described without additional features."""
    return data is not None and (not data.metric.superpose or bool(data.residues))


def describe_frames(data: Trajectories | None, groups: np.ndarray) -> Description:
    """Return the features by which the frames of some states are described, or raise.

    Components are described by the features that they combine, which are computed again from the files, for
    some of the frames.

    Parameters
    ----------
    data : Trajectories
        The clustered data.
    groups : (K, n) bool
        The frames of each state.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> data = mf.pca(mf.featurize(mf.datasets.alanine_dipeptide(stride=100), "torsions"), dim=1)
    >>> describe_frames(data, np.arange(len(data)) < np.array([[10], [20]])).features.names
    ('phi ALA2', 'psi ALA2')
    """
    made = None if data is None else data.featurizer
    if data is not None and isinstance(made, Featurizer) and made.components and _can_be_computed(data, made):
        return _computed(data, made, groups)
    return Description(features=default_features(data), frames=np.arange(groups.shape[1]))


def _can_be_computed(data: Trajectories, made: Featurizer) -> bool:
    lost = any(isinstance(each, Function) and each.function is None for each in made.features)
    paths = [source.path for source in data.sources]
    there = bool(paths) and all(path is None or os.path.exists(path) for path in paths)
    return bool(made.features) and not lost and there


def _computed(data: Trajectories, made: Featurizer, groups: np.ndarray) -> Description:
    most = max(_VALUES // (made.components[0].n_inputs * len(groups)), 1)
    chosen = np.unique(np.concatenate([_evenly(group, min(most, _FRAMES)) for group in groups]))
    parts = [made.compute(part) for _, part in data.stream(chosen)]
    values = np.concatenate(parts) if parts else np.empty((0, made.components[0].n_inputs), np.float32)
    names, units, periods = made.names, made.units, made.periods
    features = Features.made(values, [len(values)], names=names, units=units, periods=periods)
    return Description(features=features, frames=chosen)


def _evenly(group: np.ndarray, most: int) -> np.ndarray:
    """Return at most so many of the frames of a group, evenly spaced."""
    frames = np.flatnonzero(group)
    if len(frames) <= most:
        return frames
    return frames[np.linspace(0, len(frames) - 1, most).astype(np.int64)]


def default_features(data: Trajectories | None) -> Trajectories:
    """Return the features that describe states by default, or raise."""
    made = data.featurizer if data is not None else None
    if data is not None and not data.metric.superpose and (made is None or not made.components):
        return data
    if data is not None and data.phi is not None and data.psi is not None and data.residues:
        names = [f"{angle} {residue}" for angle in ("phi", "psi") for residue in data.residues]
        values = np.concatenate([data.phi, data.psi], axis=1)
        return Features(
            data.split(values),
            names=names,
            units="degrees",
            periodic=range(values.shape[1]),
            times=data.times,
        )
    if data is not None and not data.metric.superpose:
        return data
    raise InputValueError(
        "`features` must be given: the frames have no backbone torsions by which states could be described. "
        "Use mf.featurize(frames, 'distances'), for example."
    )
