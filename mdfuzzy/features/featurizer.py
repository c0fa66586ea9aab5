"""The featuriser, which computes rows of features from frames with all their atoms."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy.features.components import Components
from mdfuzzy.features.contacts import ClosestDistances, Contacts
from mdfuzzy.features.coordinates import Coordinates
from mdfuzzy.features.distances import Distances, GroupDistances
from mdfuzzy.features.feature import Columns, Feature
from mdfuzzy.features.functions import Function
from mdfuzzy.features.torsions import Torsions
from mdfuzzy.frames.features import Features

if TYPE_CHECKING:
    import mdtraj as md

#: More columns are refused by default: covariances of 5,000 columns take 200 MB, and of the 31,125 distances
#: between 250 residues 8 GB.
MAX_FEATURES = 5_000
#: The kinds of features by their names in JSON.
KINDS: dict[str, type[Feature]] = {
    each.kind: each
    for each in (Torsions, Distances, GroupDistances, ClosestDistances, Contacts, Coordinates, Function)
}


@dataclass(frozen=True, eq=False)
class Featurizer:
    """Compute features, in the same way for the clustered trajectories and for new ones.

    Attributes
    ----------
    features : tuple of Feature
        The features that are computed from every frame; empty if they come from arrays or text files.
    bound : tuple of Columns
        The columns of these features for one molecule.
    components : tuple of Components
        The reductions that are applied to the features, such as TICA.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=100)
    >>> featurizer = mf.featurize(frames, "torsions").featurizer
    >>> featurizer.transform(frames.trajectory([0, 1])).shape
    (2, 2)
    """

    features: tuple[Feature, ...] = ()
    bound: tuple[Columns, ...] = ()
    components: tuple[Components, ...] = field(default=())

    @classmethod
    def of(cls, features: "tuple[Feature, ...]", first: "md.Trajectory") -> "Featurizer":
        """Return the featuriser of `features` for the molecule in `first`, one frame with all atoms."""
        given = tuple(each.bound_to(first) if isinstance(each, Coordinates) else each for each in features)
        return cls(given, tuple(each.bind(first) for each in given))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that are computed from the frames."""
        return tuple(name for each in self.bound for name in each.names)

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each of these columns."""
        return tuple(each.unit for each in self.bound for _ in each.names)

    @property
    def periods(self) -> tuple[float | None, ...]:
        """The period of each of these columns."""
        return tuple(period for each in self.bound for period in each.periods)

    @property
    def atoms(self) -> np.ndarray:
        """The atoms that are used, in ascending order."""
        return np.unique(np.concatenate([np.empty(0, np.int64), *(each.atoms for each in self.bound)]))

    def transform(self, frames: "md.Trajectory") -> np.ndarray:
        """Return the features of `frames`, (frames, columns) float32.

        The frames must have all atoms of the topology, and whole molecules. Every frame is transformed
        independently, so trajectories can be transformed chunk by chunk.
        """
        return self.finish(self.compute(frames))

    def compute(self, frames: "md.Trajectory") -> np.ndarray:
        """Return the features computed from `frames`, before any reduction to components."""
        if self.features and not self.bound:  # it was restored from a spec
            object.__setattr__(self, "bound", Featurizer.of(self.features, frames[0]).bound)
        parts = [each.compute(frames) for each in self.bound]
        return np.concatenate([np.empty((len(frames), 0)), *parts], axis=1, dtype=np.float32)

    def finish(self, rows: np.ndarray) -> np.ndarray:
        """Return the components of the computed `rows`."""
        for each in self.components:
            rows = each.apply(rows)
        return rows

    def then(self, components: Components) -> "Featurizer":
        """Return a featuriser that also computes these `components`, after all others."""
        return replace(self, components=(*self.components, components))

    def completed(self, data: Features) -> Features:
        """Return `data`, to which only the first of the components were applied, with all of them."""
        done = 0 if data.featurizer is None else len(data.featurizer.components)
        for each in self.components[done:]:
            if data.values.shape[1] == each.n_inputs:
                data = follow(data, each)
        return data

    def spec(self) -> dict[str, Any]:
        """Return a description that JSON can hold and that restores the featuriser."""
        return {
            "features": [each.spec() for each in self.features],
            "components": [each.spec() for each in self.components],
        }

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> "Featurizer":
        """Return the featuriser that a `spec` describes, for the first molecule that it is used with."""
        features = tuple(feature_from(each) for each in spec["features"])
        return cls(features, components=tuple(Components.from_spec(each) for each in spec["components"]))

    def check_width(self, max_features: int) -> None:
        """Raise if there are more columns than `max_features`."""
        d = len(self.names)
        if d <= max_features:
            return
        counts = ", ".join(
            f"{len(bound.names):,} of {feature.kind}"
            for feature, bound in zip(self.features, self.bound, strict=True)
        )
        raise InputValueError(
            f"`features` must have at most {max_features:,} columns (`max_features`); got {d:,} ({counts}), "
            f"{4 * d / 1024:,.0f} kB for each frame. Select fewer atoms, such as those of the parts "
            "that move ('distances:SELECTION | SELECTION'), use torsions, or raise `max_features`."
        )


def follow(data: Features, components: Components) -> Features:
    """Return the components of `data`, with its times, topology and sources."""
    before = Featurizer() if data.featurizer is None else data.featurizer
    return data.with_columns(
        components.apply(data.values),
        names=components.names,
        units=("",) * len(components),
        featurizer=before.then(components),
    )


def feature_from(spec: dict[str, Any]) -> Feature:
    """Return the feature described by `Feature.spec`."""
    values = dict(spec)
    return KINDS[values.pop("kind")](**values)
