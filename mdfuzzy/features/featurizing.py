"""Compute features of trajectories, one chunk at a time."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError, check_int
from mdfuzzy._messages import counted
from mdfuzzy.features._moments import MomentSums
from mdfuzzy.features._parsing import take_feature
from mdfuzzy.features.columns import Given
from mdfuzzy.features.decomposition import reduced, warn_of_short, warn_of_weights
from mdfuzzy.features.feature import Feature
from mdfuzzy.features.featurizer import MAX_FEATURES, Featurizer
from mdfuzzy.features.reduction import Reduction, describe
from mdfuzzy.features.scaling import scale_columns
from mdfuzzy.features.torsions import Torsions
from mdfuzzy.frames.embedding import embed
from mdfuzzy.frames.features import Features
from mdfuzzy.frames.streaming import LoadedStream, Stream, backbone_residues, open_stream
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.frames.weights import Weights

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import mdtraj as md

    from mdfuzzy.frames.loading import Items, Top
    from mdfuzzy.workers.cluster import Client

    #: A feature: a text, a `Feature`, a function of frames, or an array or file with columns.
    One: TypeAlias = (
        str | Feature | Given | Callable[[md.Trajectory], npt.ArrayLike] | np.ndarray | os.PathLike[str]
    )
    #: One feature or several.
    Wanted: TypeAlias = One | Sequence[One]

logger = logging.getLogger("mdfuzzy")


def featurize(
    paths: Items | Trajectories,
    features: Wanted | Features = "torsions",
    *,
    top: Top = None,
    atoms: str | npt.ArrayLike | None = None,
    stride: int = 1,
    begin: float | None = None,
    end: float | None = None,
    whole: bool | None = None,
    timestep: float | None = None,
    lengths: Sequence[int] | None = None,
    weights: Weights | None = None,
    log_weights: Weights | None = None,
    temperature: float | None = None,
    reduction: Reduction | None = None,
    max_features: int = MAX_FEATURES,
    scratch: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    client: Client | None = None,
) -> Features:
    """Compute features of trajectories: torsions, distances, contacts and others.

    Files are read in chunks, so the memory holds only the result and one chunk. The result keeps times,
    topology and sources, so structures, exports, kinetics and `assign` work as for `load`.

    Parameters
    ----------
    paths : path, glob, md.Trajectory, (n, atoms, 3) array, Universe, AtomGroup, list of these, or Frames
        The trajectories, as for `load`. For `Frames`, the same frames are read again.
    features : str, Feature, callable, array, path, a list of these, or Features
        The features to compute:

        - ``"torsions"``, ``"sidechains"``, ``"all-torsions"``: phi and psi; chi1 to chi5; these and omega;
        - ``"distances"``: between alpha carbons; ``"distances:name CB"``: between other atoms;
          ``"distances:name CA | resname LIG"``: between two sets of atoms;
        - ``"groups:resid 0 to 9 | resid 30 to 39"``: between centres of mass;
        - ``"closest"``, ``"contacts"``: the closest heavy-atom distances of residues, and smooth contacts,
          with one or two selections as above;
        - ``"coordinates:name CA"``: Cartesian coordinates after superposition on the first frame;
        - ``"columns:COLVAR:phi,psi"``: columns of a text file, or of an ``.npy`` file, one for each
          trajectory;
        - a class of `mdfuzzy.features` for further options; a function of an `md.Trajectory` that returns
          (frames,) or (frames, columns) numbers; an array with a row for each frame.

        ``"2 * torsions"`` doubles the weight of a feature. Pass `Features` that were computed before to
        compute the same features of new trajectories, with the same TICA.
    top, stride, begin, end, whole, timestep, lengths, weights, log_weights, temperature
        As for `load`.
    atoms : str or (m,) array of int, optional
        The atoms that are shown in structures and used to superpose them; by default the heavy atoms of the
        solute. Features do not depend on them.
    reduction : features.Reduction, optional
        Reduce the features to components while reading. The result is the same as from `tica`, `vamp` or
        `pca`, but the files are read twice, and only the components are held in memory.
    max_features : int
        The largest number of columns; more raise an error before anything is read.
    scratch : path, optional
        A folder for features that do not fit into memory, as for `load`.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.
    client : distributed.Client, optional
        Read the files and compute the features on the workers of this Dask cluster, as for `load`.

    Returns
    -------
    Features
        The features with names, units and periods. If there are several units, columns are weighted so that
        each counts the same on average (`Features.column_weights`).

    Raises
    ------
    ValueError
        If a selection has none of the features, if there are too many columns or two equal ones, or if
        columns of a file do not match the frames.

    See Also
    --------
    load : Load frames that are compared by RMSD.
    tica : Compute the slow linear combinations of features.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> folder = mf.datasets.folder()
    >>> data = mf.featurize(folder / "ala2_*.xtc", "torsions", top=folder / "ala2.pdb", stride=10)
    >>> data.names, data.units, data.periods
    (('phi ALA2', 'psi ALA2'), ('degrees', 'degrees'), (360.0, 360.0))
    >>> mf.cluster(data).data.has_structures
    True
    """
    check_int("max_features", max_features, 1)
    again: Any = features if hasattr(features, "featurizer") else None
    stream = open_stream(
        paths, top=top, atoms=atoms, stride=stride, begin=begin, end=end, whole=whole, timestep=timestep,
        lengths=lengths, scratch=scratch, progress=progress, client=client,
    )  # fmt: skip
    if again is not None:
        wanted: tuple[Feature | Given, ...] = _same_again(again)
    else:
        wanted = _take(cast(Any, features))
    computed = tuple(each for each in wanted if isinstance(each, Feature))
    featurizer = Featurizer.of(computed, stream.first_frame())
    if again is not None:
        _check_same(again, featurizer)
    featurizer.check_width(max_features)
    given = any(isinstance(each, Given) for each in wanted)
    if computed:
        logger.info(f"computing {counted(len(featurizer.names), 'feature')}: {_words(wanted)}")
    mixed = reduction is not None and reduction.method == "PCA" and len(set(featurizer.units)) > 1
    if reduction is not None and not given and not mixed:
        data = _components(stream, featurizer, reduction)
    else:
        known = _has_backbone(featurizer, stream.topology)
        read = stream.read(featurizer.compute, atoms=featurizer.atoms, torsions=not known)
        data = _assembled(wanted, featurizer, *_with_backbone(featurizer, *read))
        if reduction is not None:
            data = reduced(data, reduction)
    if again is not None:
        data = again.like(data)
    if data.reading is not None:
        data = data.with_reading(data.reading | {"features": [each.spec() for each in wanted]})
    weighted = data.weighted(weights, log_weights=log_weights, temperature=temperature)
    if reduction is not None:
        warn_of_weights(weighted, reduction)
    return weighted


def _has_backbone(featurizer: Featurizer, topology: md.Topology) -> bool:
    """Return whether the features include phi and psi of all residues."""
    residues = backbone_residues(topology)
    return {f"{angle} {residue}" for angle in ("phi", "psi") for residue in residues} <= {*featurizer.names}


def _with_backbone(
    featurizer: Featurizer, values: np.ndarray | None, lengths: list[int], attributes: dict[str, Any]
) -> tuple[np.ndarray | None, list[int], dict[str, Any]]:
    """Take phi and psi from the features if they were not computed separately."""
    residues = attributes["residues"]
    if values is not None and residues and attributes["phi"] is None:
        place = {name: at for at, name in enumerate(featurizer.names)}
        found = {
            angle: values[:, [place[f"{angle} {each}"] for each in residues]] for angle in ("phi", "psi")
        }
        attributes = attributes | found
    return values, lengths, attributes


def _components(stream: Stream | LoadedStream, featurizer: Featurizer, reduction: Reduction) -> Features:
    """Read the trajectories twice: first to find the components, then to compute them."""
    weights = tuple(each.weight for each in featurizer.features)
    names = featurizer.names
    _refuse_twins(names)
    column_weights = np.repeat(weights, [len(each.names) for each in featurizer.bound])
    factors = None if np.all(column_weights == 1) else column_weights
    step, lengths = stream.timestep, stream.lengths
    lag = reduction.frames(step, max(lengths), known=step is not None)
    warn_of_short(lengths, lag, reduction)
    sums = MomentSums(lag, lengths)

    def add(trajectory: int, rows: np.ndarray) -> None:
        sums.add(trajectory, embed(rows, featurizer.periods, factors))

    stream.read(featurizer.compute, atoms=featurizer.atoms, sink=add)
    components = reduction.fit(
        sums.halves(),
        lag=lag,
        timestep=step,
        inputs=names,
        periods=featurizer.periods,
        column_weights=factors,
    )
    logger.info(describe(components))
    complete = featurizer.then(components)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the first reading gave the same warnings
        values, counts, attributes = stream.read(complete.transform, atoms=featurizer.atoms)
    assert values is not None, "rows are kept"
    units = ("",) * len(components)
    data = Features.made(
        values, counts, names=components.names, units=units, featurizer=complete, **attributes
    )
    if data.times is not None and data.timestep is None:
        reduction.frames(None, max(counts))  # raises
    return data


def _take(wanted: Wanted) -> tuple[Feature | Given, ...]:
    several = isinstance(wanted, list | tuple)
    found = tuple(map(take_feature, cast(Sequence[object], wanted) if several else [wanted]))
    if not found:
        raise InputValueError("`features` must name at least one feature, such as 'torsions'; got none.")
    return found


def _same_again(data: Any) -> tuple[Feature, ...]:
    """Return the features that existing `Features` were computed from."""
    featurizer = data.featurizer
    if not isinstance(featurizer, Featurizer) or not featurizer.features:
        raise InputTypeError(
            "`features` must have been computed from frames to be computed again; these came from arrays or "
            "files. Pass the columns of the new frames."
        )
    return featurizer.features


def _check_same(data: Any, featurizer: Featurizer) -> None:
    """Raise unless new frames have the features of `data`, before they are reduced to components."""
    components = data.featurizer.components
    known = components[0].inputs if components else data.names
    other = [name for name in known if name not in set(featurizer.names)]
    if known != featurizer.names:
        first = f"{len(other):,} of them are missing, the first {other[0]!r}" if other else "in another order"
        raise InputValueError(
            f"The features of new frames must be those of the clustered frames, {len(known):,}; got "
            f"{len(featurizer.names):,}, {first}. Give files of the same molecule, with its topology (`top`)."
        )


def _words(features: Sequence[Feature | Given]) -> str:
    """Return the kinds of features, with the kind of torsions, for messages."""
    found = []
    for each in features:
        word = each.kind if isinstance(each, Feature) else "columns"
        found.append(f"{word} ({each.which})" if isinstance(each, Torsions) else word)
    return ", ".join(found)


def _assembled(
    wanted: tuple[Feature | Given, ...],
    featurizer: Featurizer,
    values: np.ndarray | None,
    lengths: list[int],
    attributes: dict[str, Any],
) -> Features:
    """Combine the computed and the given columns in the requested order."""
    names: list[str] = []
    units: list[str] = []
    periods: list[float | None] = []
    weights: list[float] = []
    parts, first, given, bound = [], 0, 0, iter(featurizer.bound)
    for each in wanted:
        if isinstance(each, Feature):
            columns = next(bound)
            assert values is not None, "computed features are kept"
            parts.append(values[:, first : first + len(columns.names)])
            first += len(columns.names)
            found_names, found_periods, unit = columns.names, columns.periods, columns.unit
        else:
            part, found_names, found_periods = each.rows(lengths, attributes["times"], before=given)
            parts.append(part)
            given += len(found_names)
            unit = each.unit
        names += found_names
        periods += found_periods
        units += [unit] * len(found_names)
        weights += [each.weight] * len(found_names)
    _refuse_twins(names)
    rows = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    return Features.made(
        rows,
        lengths,
        names=tuple(names),
        units=tuple(units),
        periods=tuple(periods),
        column_weights=scale_columns(rows, tuple(periods), units, weights),
        featurizer=featurizer if all(isinstance(each, Feature) for each in wanted) else None,
        **attributes,
    )


def _refuse_twins(names: Sequence[str]) -> None:
    """Raise if two columns have the same name and so are equal."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputValueError(f"`features` must be different columns; got {twice!r} twice. Leave one out.")
