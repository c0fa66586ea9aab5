"""Join frames of several ensembles, such as mutants, ligands, force fields or temperatures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError, check_real, check_type
from mdfuzzy.frames.ensembles import Ensembles
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.matching import AtomMatch, match_atoms, match_in_order


def join_ensembles(
    ensembles: Mapping[str, Frames],
    *,
    in_order: bool = False,
    shares: Mapping[str, float] | None = None,
) -> Frames:
    """Join the frames of several ensembles by the atoms that they have in common.

    By default every ensemble has the same total weight, whatever its number of frames, so that no ensemble
    dominates the states.

    Parameters
    ----------
    ensembles : mapping of str to Frames
        The frames of each ensemble. Existing weights keep their proportions within an ensemble.
    in_order : bool
        Whether to match the loaded atoms by their order. By default they are matched by residue number and
        name. Atoms without a match are listed in ``ensembles.match.left_out`` of the result.
    shares : mapping of str to float, optional
        The total weight of each ensemble, up to a constant; by default the same for all.

    Returns
    -------
    Frames
        The frames of all ensembles, with `ensembles` set. All-atom structures can be read again if all
        ensembles have the same topology.

    Raises
    ------
    ValueError
        If fewer than three atoms match.

    See Also
    --------
    load : Load ensembles from files, as a dict.
    compare_ensembles : Compare the states of ensembles.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=20)
    >>> both = mf.join_ensembles({"long": frames[:1000], "short": frames[1000:]})
    >>> both.ensembles.names, both.ensembles.of
    (('long', 'short'), array([0, 1]))
    >>> [round(float(part.sum())) for part in both.split(both.weights)]  # equal total weights
    [500, 500]
    """
    check_type("ensembles", ensembles, Mapping, remedy="Use {'wt': frames, 'mutant': other_frames}.")
    if len(ensembles) < 2:
        raise InputValueError(f"`ensembles` must hold at least 2 ensembles; got {len(ensembles)}.")
    topologies = {}
    for name, frames in ensembles.items():
        if type(frames) is not Frames:
            raise InputTypeError(
                f"`ensembles` must hold Frames that are superposed in pairs; got {type(frames).__name__} for "
                f"{name!r}. Load them without `align`."
            )
        if frames.topology is None:
            raise InputValueError(
                f"`ensembles` must hold frames with a topology; got {name!r} without. Give `top` to `load`."
            )
        topologies[name] = frames.topology
    for name, frames in ensembles.items():
        if frames.symmetry is not None:
            raise InputValueError(
                f"`ensembles` must hold frames without equivalent atoms; got some in {name!r}. "
                "Load them without `symmetry`."
            )
    if len({frames.metric for frames in ensembles.values()}) > 1:
        raise InputValueError(
            "`ensembles` must be compared in the same way; got frames with and without `mass_weighted`."
        )
    match = match_in_order(topologies) if in_order else match_atoms(topologies)
    return _joined(ensembles, match, _weights(ensembles, shares))


def _joined(ensembles: Mapping[str, Frames], match: AtomMatch, weights: np.ndarray | None) -> Frames:
    parts, names = list(ensembles.values()), tuple(ensembles)
    first, chosen = parts[0], match.atoms[names[0]]
    assert first.topology is not None, "checked before"
    of = np.repeat(np.arange(len(parts)), [each.n_trajectories for each in parts])
    masses = None if first.masses is None else first.masses[chosen] / first.masses[chosen].mean()
    found = Frames(
        np.concatenate([_centred(each.xyz[:, match.atoms[name]]) for name, each in ensembles.items()]),
        np.concatenate([each.lengths for each in parts]),
        times=_together([each.times for each in parts]),
        weights=weights,
        topology=first.topology.subset(chosen),
        selection=f"{len(chosen)} atoms in common",
        masses=masses,
        ensembles=Ensembles(names=names, of=of, match=match),
        **_torsions(parts),
    )
    same = all((each.top is not None and each.top is first.top) or each.top == first.top for each in parts)
    whole = all(each.sources and each.atoms is not None for each in parts) and not any(
        match.left_out.values()
    )
    if same and whole and isinstance(first.top, str):
        found = replace(found, sources=_sources(parts), top=first.top, atoms=first.atoms, whole=first.whole)
    return found


def _sources(parts: Sequence[Frames]) -> tuple[Any, ...]:
    """Return the sources of all parts, with their trajectories numbered consecutively."""
    starts = np.cumsum([0, *(each.n_trajectories for each in parts)]).tolist()
    return tuple(
        replace(source, trajectory=source.trajectory + start)
        for each, start in zip(parts, starts, strict=False)
        for source in each.sources
    )


def _centred(xyz: np.ndarray) -> np.ndarray:
    return (xyz - xyz.mean(axis=1, keepdims=True, dtype=np.float64)).astype(np.float32)


def _together(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    known = [each for each in arrays if each is not None]
    return np.concatenate(known) if len(known) == len(arrays) else None


def _torsions(parts: Sequence[Frames]) -> dict[str, Any]:
    """Return the backbone torsions of the residues that all parts have, matched by number."""
    numbers = [{_number(label): at for at, label in enumerate(each.residues)} for each in parts]
    common = [number for number in numbers[0] if all(number in each for each in numbers[1:])]
    if not common or any(len(each) < len(part.residues) for each, part in zip(numbers, parts, strict=True)):
        return {}
    places = [[each[number] for number in common] for each in numbers]
    labels = zip(
        *([part.residues[at] for at in p] for part, p in zip(parts, places, strict=True)), strict=True
    )
    columns = {
        name: np.concatenate([getattr(part, name)[:, p] for part, p in zip(parts, places, strict=True)])
        for name in ("phi", "psi")
    }
    return columns | {"residues": tuple("/".join(dict.fromkeys(each)) for each in labels)}


def _number(label: str) -> str:
    """Return a residue label without the residue name: the number, and the chain if there are several."""
    return re.sub(r"[A-Za-z]+(?=\d+$)", "", label)


def _weights(ensembles: Mapping[str, Frames], shares: Mapping[str, float] | None) -> np.ndarray | None:
    """Return the weights of all frames; None if all weights are equal."""
    given = check_shares(shares, tuple(ensembles))
    parts = []
    for name, frames in ensembles.items():
        own = np.ones(len(frames)) if frames.weights is None else frames.weights
        parts.append(own * (given[name] / own.sum()))
    weights = np.concatenate(parts)
    return None if np.ptp(weights) <= 1e-12 * weights.max() else weights / weights.max()


def check_shares(shares: Mapping[str, float] | None, names: Sequence[str]) -> dict[str, float]:
    """Return the total weight of each ensemble, or raise."""
    if shares is None:
        return dict.fromkeys(names, 1.0)
    check_type("shares", shares, Mapping, remedy="Use {'wt': 1, 'mutant': 2}.")
    if set(shares) != set(names):
        raise InputValueError(
            f"`shares` must name every ensemble once, {', '.join(names)}; got {', '.join(shares)}."
        )
    return {name: check_real(f"shares[{name!r}]", shares[name], above=0) for name in names}


def load_ensembles(
    load: Callable[..., Frames],
    paths: Mapping[str, Any],
    *,
    top: Any = None,
    tops: Mapping[str, Any] | None = None,
    atoms: str | npt.ArrayLike | Mapping[str, Any] | None = None,
    shares: Mapping[str, float] | None = None,
    **options: Any,
) -> Frames:
    """Load the frames of each ensemble and join them; the arguments are the same as for `load`."""
    names = tuple(paths)
    if len(names) < 2 or not all(isinstance(name, str) and name for name in names):
        raise InputValueError(
            f"`paths` must be a dict of at least 2 ensembles, their files by their names; got {list(names)}."
        )
    for argument, value in (("tops", tops), ("atoms", atoms)):
        if isinstance(value, Mapping) and set(value) - set(names):
            other = next(iter(set(value) - set(names)))
            raise InputValueError(f"`{argument}` must name ensembles, {', '.join(names)}; got {other!r}.")
    for argument in ("align", "reference", "lengths", "weights", "log_weights", "temperature"):
        if options.get(argument) is not None:
            raise InputValueError(
                f"`{argument}` must be left out with several ensembles; got {options[argument]!r}. Load each "
                "of them, and use `join_ensembles`."
            )
    pairs = isinstance(atoms, Mapping)
    if isinstance(atoms, Mapping) and len(atoms) < len(names):
        missing = next(name for name in names if name not in atoms)
        raise InputValueError(f"`atoms` must select atoms of every ensemble; got none for {missing!r}.")
    check_shares(shares, names)  # before files are read
    found = {
        name: load(
            paths[name],
            top=top if tops is None or name not in tops else tops[name],
            atoms=atoms[name] if isinstance(atoms, Mapping) else atoms,
            **options,
        )
        for name in names
    }
    frames = join_ensembles(found, in_order=pairs, shares=shares)
    readings = {name: each.reading for name, each in found.items()}
    if any(each is None for each in readings.values()):
        return frames
    first: dict[str, Any] = dict(readings[names[0]] or {})
    several = {key: {name: dict(readings[name] or {})[key] for name in names} for key in ("paths", "top")}
    reading = first | {"paths": several["paths"], "top": None, "tops": several["top"], "shares": shares}
    if pairs:
        reading["atoms"] = {name: dict(readings[name] or {})["atoms"] for name in names}
    return replace(frames, reading=reading)
