"""The error of memberships by extension, measured on half of a sample."""

import warnings
from dataclasses import replace

import numpy as np

from mdfuzzy.memberships.extension import extend_memberships
from mdfuzzy.neighbors.nearest import nearest_frames
from mdfuzzy.pipeline._cache import Run
from mdfuzzy.pipeline.extension import Fitted
from mdfuzzy.pipeline.sample import ExtensionError


def measure_error(fit: Fitted, *, n_jobs: int | None) -> ExtensionError:
    """Fit half of a sample, extend it to the other half, and compare; see `ExtensionError`."""
    from scipy.optimize import linear_sum_assignment

    ours, others = np.arange(0, len(fit.data), 2), np.arange(1, len(fit.data), 2)
    settings = replace(fit.settings, beta=fit.memberships.beta, scan_beta=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # they concern states that are not kept
        half = Run(settings, {"data": fit.data.sample(ours)})
        near = nearest_frames(
            half["data"],
            n_neighbors=half["k"],
            queries=fit.data.subset(others),
            n_jobs=n_jobs,
            progress=False,
        )
        found = extend_memberships(half["memberships"], near, k=half["k"], n_jobs=n_jobs)
    values, known = found.values, fit.memberships.values
    overlap = half["memberships"].values.T @ known[ours]
    theirs, states = linear_sum_assignment(-overlap)
    matched = np.zeros((len(others), known.shape[1]))
    matched[:, states] = values[:, theirs]
    apart = values.sum(axis=1) - matched.sum(axis=1)  # memberships in states absent from the sample
    differences = 0.5 * (np.abs(matched - known[others]).sum(axis=1) + apart)
    same = matched.argmax(axis=1) == known[others].argmax(axis=1)
    return ExtensionError(
        frames=len(others),
        mean=float(differences.mean()),
        most=float(np.quantile(differences, 0.99)),
        agreement=float(same.mean()),
        n_states=known.shape[1],
        n_states_half=values.shape[1],
    )
