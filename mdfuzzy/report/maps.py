"""The frames over phi and psi, or two other coordinates, at every beta: what the interactive plot shows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots.bins import Bins, suggest_bins
from mdfuzzy.plots.places import push_apart
from mdfuzzy.plots.planes import second_highest
from mdfuzzy.plots.projections import Projection, project, torsions
from mdfuzzy.report.packing import NOWHERE, pack, quantize, rounded

#: Bytes of all maps before they are compressed. Even incompressible ones leave the page below 10 MB.
_BUDGET = 3_000_000
_FEWEST_BINS = 24
#: Bins along each axis of the map of one residue among many.
_RESIDUE_BINS = 36
#: Residues of a small peptide, which are all shown side by side.
_PANELS = 9
#: The names of the planes of principal components, and of two features.
_COMPONENTS, _FEATURES = "principal components", "features"
#: The size of the number of a state, as a share of the map.
_MARK = 0.075
#: A frame whose highest membership is less than this is between states.
CERTAIN = 0.9


@dataclass(frozen=True, eq=False)
class Solution:
    """The memberships at one beta, of all frames or of some.

    Attributes
    ----------
    beta : float
        The walk temperature.
    values : (m, K) array
        Memberships.
    frames : (m,) int array or None
        Which frames they are of; None for all.
    """

    beta: float
    values: np.ndarray
    frames: np.ndarray | None = None


def solutions(result: Result) -> list[Solution]:
    """Return the memberships at every beta that was solved for, the coldest first.

    At the beta of the clustering, these are the memberships of all frames.
    """
    found = [Solution(result.memberships.beta, result.memberships.values)]
    scan = result.beta_scan if isinstance(result, Clustering) else None
    if scan is not None and scan.memberships is not None:
        found += [
            Solution(float(beta), values, scan.frames)
            for beta, values in zip(scan.betas, scan.memberships, strict=True)
            if not np.isclose(beta, result.memberships.beta, rtol=1e-9, atol=0.0)
        ]
    return sorted(found, key=lambda each: each.beta)


def projections(result: Result) -> dict[str, Callable[[], Projection]]:
    """Return functions that make the planes of the plot, by name: one per residue, or a single other one.

    Planes are made one at a time, because the planes of many residues would fill the memory.
    """
    data = result.data
    if data is None:
        return {}
    residues: dict[str, Callable[[], Projection]]
    residues = {name: partial(torsions, data, place) for place, name in enumerate(data.residues)}
    if data.metric.superpose:
        components: dict[str, Callable[[], Projection]] = {_COMPONENTS: partial(project, data)}
        # One pair of torsions describes a dipeptide completely, but hardly anything of a protein.
        return residues if len(residues) == 1 else components | residues
    if data.columns.shape[1] < 2:
        return {}
    if len(residues) > 1 and data.names[:2] == (f"phi {data.residues[0]}", f"psi {data.residues[0]}"):
        return residues  # the first of which has the first two features
    return {_FEATURES: partial(project, data)} | (residues if len(residues) <= _PANELS else {})


def describe_maps(result: Result) -> dict[str, Any] | None:
    """Return all that the interactive plot needs, ready for JSON; None if there are no two coordinates.

    The frames are binned, for every residue and beta: the state of most frames in a bin, the mean of their
    second-highest memberships, and the mean memberships of each state. For a molecule with very many
    residues, bins are made wider, then only the beta of the clustering is kept, and then only the first
    residues.
    """
    planes = projections(result)
    if not planes:
        return None
    # The first plane has all betas and fine bins. The residues of a protein share the remaining space.
    few = len(planes) <= _PANELS + 1
    first = planes if few else dict(list(planes.items())[:1])
    kept, solved, number = _within_budget(first, solutions(result), result)
    used = result.memberships.beta
    chosen = [each for each in solved if each.beta == used]
    described = dict.fromkeys(kept, (solved, number))
    if not few:
        rest = {name: make for name, make in planes.items() if name not in first}
        more, _, coarse = _within_budget(rest, chosen, result, finest=_RESIDUE_BINS)
        described |= dict.fromkeys(more, (chosen, coarse))
    seconds = {id(each): second_highest(each.values) for each in solved}
    return {
        "betas": [_beta_text(each.beta) for each in solved],
        "chosen": next(place for place, each in enumerate(solved) if each.beta == used),
        "scanned": [len(each.values) for each in solved],
        "weighted": result.weights is not None,
        "fractions": rounded([_mean(result, each, each.values) for each in solved], 4),
        "between": rounded([_mean(result, each, each.values.max(axis=1) < CERTAIN) for each in solved], 3),
        "panels": few and len(planes) - (_COMPONENTS in planes or _FEATURES in planes) > 1,
        "hidden": len(planes) - len(described),
        "planes": [
            {
                "name": name,
                "betas": [solved.index(each) for each in shown],
                **_describe_plane(plane, shown, [seconds[id(each)] for each in shown], bins),
                **_marks(plane, result),
            }
            for name, plane, (shown, bins) in ((name, planes[name](), how) for name, how in described.items())
        ],
    }


def _mean(result: Result, solution: Solution, values: np.ndarray) -> np.ndarray:
    """Return the mean of values over the frames of a solution, by their weights."""
    if result.weights is None:
        return np.asarray(values.mean(axis=0, dtype=np.float64))
    weights = result.weights if solution.frames is None else result.weights[solution.frames]
    return np.asarray(np.average(values, axis=0, weights=weights))


def _within_budget(
    planes: dict[str, Callable[[], Projection]],
    solved: list[Solution],
    result: Result,
    *,
    finest: int | None = None,
) -> tuple[list[str], list[Solution], int]:
    """Return which planes and betas to show, and in how many bins, so that the page stays small."""
    finest = number = min(suggest_bins(len(result)), finest or suggest_bins(len(result)))
    occupied = [np.argwhere(make().bin(finest).counts) for make in planes.values()]

    def size(number: int) -> int:
        places = ((2 * fine + 1) * number // (2 * finest) for fine in occupied)
        cells = sum(len(np.unique(place[:, 0] * number + place[:, 1])) for place in places)
        return cells * len(solved) * (result.n_states + 2)

    while number > _FEWEST_BINS and size(number) > _BUDGET:
        number = max(_FEWEST_BINS, int(0.75 * number))
    if size(number) > _BUDGET:
        solved = [each for each in solved if each.beta == result.memberships.beta]
    kept = max(1, int(len(planes) * min(1.0, _BUDGET / size(number))))
    return list(planes)[:kept], solved, number


def _describe_plane(
    plane: Projection, solved: list[Solution], seconds: list[np.ndarray], number: int
) -> dict[str, Any]:
    grid = plane.bin(number)
    cells = np.flatnonzero(grid.counts)
    layers = []
    for solution, second in zip(solved, seconds, strict=True):
        part = _part(grid, solution.frames)
        most = part.most_common(_hard(solution.values)).reshape(-1)[cells]
        means = part.mean(np.column_stack([second, solution.values])).reshape(number * number, -1)[cells]
        layers.append(np.vstack([np.where(most < 0, NOWHERE, most).astype(np.uint8), quantize(means).T]))
    return {
        "labels": plane.labels,
        "angles": [period is not None for period in plane.periods],
        "equal": plane.equal,
        "edges": [[float(edges[0]), float(edges[-1])] for edges in grid.edges],
        "bins": number,
        "cells": pack(cells.astype(np.int32)),
        "counts": pack(grid.counts.reshape(-1)[cells].astype(np.int32)),
        "layers": pack(np.stack(layers)),
    } | ({} if grid.weights is None else {"energies": _energies(grid, cells)})


def _energies(grid: Bins, cells: np.ndarray) -> list[float | None]:
    """Return the free energy of bins in kT above the lowest, by weights of frames; None for empty bins."""
    masses = grid.masses.reshape(-1)
    with np.errstate(divide="ignore"):
        return list(rounded(np.log(masses.max() / masses[cells]), 3))


def _hard(values: np.ndarray) -> np.ndarray:
    """Return the state of each row of memberships; -1 if none, or if its number does not fit into a byte."""
    state = values.argmax(axis=1)
    return np.where((values.max(axis=1) > 0) & (state < NOWHERE), state, -1)


def _part(grid: Bins, frames: np.ndarray | None) -> Bins:
    """Return the bins of some of the frames, on the same grid."""
    if frames is None:
        return grid
    index = grid.index[frames]
    counts = np.bincount(index, minlength=grid.counts.size).reshape(grid.counts.shape)
    weights = None if grid.weights is None else grid.weights[frames]
    return Bins(grid.edges, index, counts, grid.periodic, weights)


def _marks(plane: Projection, result: Result) -> dict[str, Any]:
    """Return where the peaks of the states are, and the most mixed frame of each transition region."""
    whole = "all frames" if result.weights is None else "the weight"
    rows = [row for row in result.states if row.frames]
    what = "its peak" if isinstance(result, Clustering) else "the frame of its highest membership"
    texts = [f"<b>state {row.state}</b>, {row.fraction:.1%} of {whole}: {what}" for row in rows]
    peaks = np.array([row.peak for row in rows], np.int64)
    marks = {"peaks": _points(plane, peaks, texts)}
    marks["peaks"] |= {"states": [row.state for row in rows], "labels": _labels(plane, peaks)}
    transition_regions = result.transition_regions
    if transition_regions is not None and len(transition_regions):
        frames = np.array([frames[0] for frames in transition_regions.frames])
        texts = [
            f"the most mixed frame between states {a} and {b}" for a, b in transition_regions.pairs.tolist()
        ]
        marks["transitions"] = _points(plane, frames, texts)
    return marks


def _labels(plane: Projection, frames: np.ndarray) -> dict[str, Any]:
    """Return where the numbers of the states go, so that none covers another."""
    edges = np.array([[each[0], each[-1]] for each in plane.bin(_FEWEST_BINS).edges])
    size = edges[:, 1] - edges[:, 0]
    moved = push_apart((plane.values[frames] - edges[:, 0]) / size, _MARK)
    x, y = rounded((edges[:, 0] + size * np.clip(moved, 0, 1)).T)
    return {"x": x, "y": y}


def _points(plane: Projection, frames: np.ndarray, texts: list[str]) -> dict[str, Any]:
    x, y = rounded(plane.values[frames].T)
    return {"x": x, "y": y, "text": texts}


def _beta_text(beta: float) -> str:
    return "∞" if np.isinf(beta) else f"{beta:.3g}"
