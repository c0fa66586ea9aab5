"""Hills of a smoothed density, and the peaks of the density that they belong to."""

import numpy as np

from mdfuzzy.states.persistence import Persistence


def match_peaks(peaks: Persistence, smoothed: Persistence, *, values: np.ndarray | None = None) -> np.ndarray:
    """Return the prominence of each peak among the hills of a smoothed density, (P,); NaN without a hill.

    A hill belongs to the most prominent peak in its basin. From the least prominent hill up, each hill joins
    the hill with which it merges. The less prominent of their two peaks ends, with the prominence of this
    merger. Hills without a peak are ignored.

    Parameters
    ----------
    peaks : Persistence
        The peaks without smoothing.
    smoothed : Persistence
        The hills.
    values : (H,) float64, optional
        The values to return for each hill instead of its prominence.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.arange(9.0)[:, None]
    >>> graph = mf.euclidean_neighbors(points, n_neighbors=2).graph(k=2)
    >>> rough = mf.compute_persistence(graph, [0, 5, 4, 4.5, 1, 3, 7, 6, 0])
    >>> smooth = mf.compute_persistence(graph, [1, 3, 4.2, 3.5, 2, 4, 6, 5, 2])
    >>> rough.peaks, match_peaks(rough, smooth)
    (array([6, 1, 3], dtype=int32), array([inf, 2.2, nan]))
    """
    seniority = np.lexsort((np.arange(len(peaks)), -peaks.prominences))
    rank = np.empty(len(peaks), np.int64)
    rank[seniority] = np.arange(len(peaks))
    best = np.full(len(smoothed), -1, np.int64)
    for peak in seniority[::-1]:  # the most prominent last, so that it stays
        best[smoothed.ascents[peaks.peaks[peak]]] = peak
    joined = np.arange(len(smoothed))

    def root(hill: int) -> int:
        while joined[hill] != hill:
            joined[hill] = joined[joined[hill]]
            hill = joined[hill]
        return hill

    found = np.full(len(peaks), np.nan)
    heights = smoothed.prominences
    values = heights if values is None else values
    for hill in np.argsort(heights, kind="stable"):
        if np.isinf(heights[hill]):
            if best[hill] >= 0:
                found[best[hill]] = np.inf
            continue
        other = root(int(smoothed.parents[hill]))
        joined[hill] = other
        one, two = best[hill], best[other]
        if one < 0:
            continue
        if two < 0:
            best[other] = one
            continue
        if rank[one] < rank[two]:
            best[other], one = one, two
        found[one] = values[hill]
    return found
