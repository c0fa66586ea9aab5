"""The data of two plots: the peaks of the density with their prominences, and memberships over time."""

import numpy as np

from mdfuzzy._messages import time_unit
from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.report.packing import pack, quantize, rounded
from mdfuzzy.report.structures import torsion_text

#: The largest number of peaks that are drawn, the most prominent first.
_MAX_PEAKS = 400
#: The largest numbers of trajectories in the plot, and of points in time along each.
_MAX_TRAJECTORIES, _MAX_TIMES = 24, 500


def describe_peaks(result: Clustering) -> dict[str, object]:
    """Return the most prominent peaks, from high to low prominence, ready for JSON.

    Infinite prominences and deaths are None.
    """
    peaks = result.peaks
    kept = np.argsort(-peaks.prominences, kind="stable")[:_MAX_PEAKS]
    place = {int(number): at for at, number in enumerate(kept)}
    state = {int(frame): number for number, frame in enumerate(result.cores.peaks)}
    return {
        "births": rounded(peaks.births[kept]),
        "deaths": rounded(peaks.deaths[kept]),
        "prominences": rounded(peaks.prominences[kept], 6),
        "parents": [place[_kept_ancestor(peaks.parents, int(number), place)] for number in kept],
        "states": [state.get(int(frame), -1) for frame in peaks.peaks[kept]],
        "where": [torsion_text(result.data, int(frame), most=1) for frame in peaks.peaks[kept]],
        "hidden": len(peaks) - len(kept),
        "prominence": float(f"{result.prominence:.6g}"),
    }


def _kept_ancestor(parents: np.ndarray, number: int, kept: dict[int, int]) -> int:
    """Return the peak that a peak joins, or the first one that is kept on the way from there."""
    ancestor = int(parents[number])
    while ancestor not in kept:
        ancestor = int(parents[ancestor])
    return ancestor


def describe_timeline(result: Result) -> dict[str, object] | None:
    """Return the mean memberships in short stretches of trajectories, for JSON; None without data."""
    data = result.data
    if data is None:
        return None
    times = getattr(data, "times", None)
    clock = np.concatenate([np.arange(length) for length in data.lengths]) if times is None else times
    parts = zip(data.split(result.memberships.values), data.split(clock), strict=True)
    factor, unit = (1.0, "frame") if times is None else time_unit(float(clock.max()), "ps")
    trajectories = []
    for values, moments in list(parts)[:_MAX_TRAJECTORIES]:
        starts = np.unique(np.linspace(0, len(values), _MAX_TIMES, endpoint=False).astype(np.int64))
        sizes = np.diff(np.append(starts, len(values)))
        means = np.add.reduceat(values, starts, axis=0) / sizes[:, None]
        # Cumulative sums, so that the rounded memberships of a stretch add up to 1.
        totals = np.cumsum(means, axis=1)
        trajectories.append(
            {"times": rounded(factor * moments[starts], 7), "totals": pack(quantize(np.clip(totals, 0, 1)))}
        )
    return {
        "unit": unit,
        "trajectories": trajectories,
        "hidden": data.n_trajectories - len(trajectories),
    }
