"""Convert features to plain arrays and texts, for files, and back."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from mdfuzzy.features.featurizer import Featurizer
from mdfuzzy.frames.features import Features
from mdfuzzy.frames.streaming import Source, topology_of
from mdfuzzy.frames.trajectories import Trajectories

#: Arrays with a row for each frame, and other arrays.
_ARRAYS = ("times", "weights", "phi", "psi", "atoms", "column_weights")


def to_arrays(data: Trajectories) -> dict[str, np.ndarray] | None:
    """Return arrays that restore features without the trajectories; None for data that are read again.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> data = mf.featurize(mf.datasets.alanine_dipeptide(stride=100), "torsions")
    >>> again = from_arrays(to_arrays(data))
    >>> again.names, bool((again.values == data.values).all())
    (('phi ALA2', 'psi ALA2'), True)
    >>> again.featurizer.transform(data.trajectory([0])).shape
    (1, 2)
    """
    if data.featurizer is None and "features" not in (data.reading or {}):
        return None
    from_files = isinstance(data.top, str) and all(source.path for source in data.sources)
    about: dict[str, Any] = {
        "names": data.names,
        "units": data.units,
        "periods": data.periods,
        "residues": data.residues,
        "whole": data.whole,
        "reading": data.reading,
        "featurizer": None if data.featurizer is None else data.featurizer.spec(),
        "top": data.top if from_files else None,
        "sources": [_described(source) for source in data.sources] if from_files else [],
    }
    arrays = {name: getattr(data, name) for name in _ARRAYS}
    found = {name: array for name, array in arrays.items() if array is not None}
    return {"values": data.columns, "lengths": data.lengths, "about": np.array(json.dumps(about)), **found}


def from_arrays(arrays: dict[str, np.ndarray], *, find: Callable[[str], str] = str) -> Features:
    """Return the features that were converted to these arrays.

    `find` takes the former path of a file and returns its present path.
    """
    about = json.loads(str(arrays["about"]))
    top = None if about["top"] is None else find(about["top"])
    atoms = arrays.get("atoms")
    sources = tuple(Source(**each | {"path": find(each["path"])}) for each in about["sources"])
    topology = None if top is None or atoms is None else topology_of(top).subset(atoms)
    featurizer = None
    if about["featurizer"] is not None:
        featurizer = Featurizer.from_spec(about["featurizer"])
    attributes = {name: arrays.get(name) for name in _ARRAYS}
    return Features.made(
        arrays["values"],
        arrays["lengths"],
        names=tuple(about["names"]),
        units=tuple(about["units"]),
        periods=tuple(about["periods"]),
        residues=tuple(about["residues"]),
        whole=about["whole"],
        reading=about["reading"],
        featurizer=featurizer,
        top=top,
        sources=sources,
        topology=topology,
        **attributes,
    )


def _described(source: Source) -> dict[str, Any]:
    return {name: getattr(source, name) for name in ("path", "trajectory", "first", "stride", "count")}
