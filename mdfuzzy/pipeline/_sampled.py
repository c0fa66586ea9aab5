"""The results for all frames, from a clustering of a sample."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.pipeline._cache import Run, Store
from mdfuzzy.pipeline.extension import Extension, Fitted
from mdfuzzy.pipeline.sample import FitSample
from mdfuzzy.states.cores import Cores

#: Results that describe all frames, and that a clustering of the sample omits.
OF_ALL = ("fractions", "transition_regions", "visits", "validation", "equilibrium", "pathways")


def results_of_all(
    data: Trajectories,
    frames: np.ndarray,
    fit: Any,
    *,
    store: Store | None = None,
    key: str = "",
    means: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Return the results for all frames, from the clustering of a sample."""
    fitted = Fitted(fit.data, fit.memberships, fit.k, fit.settings)
    given = {"data": data, "frames": frames, "fitted": fitted}
    run = Run(fit.settings, given, store=store, key=key, means=means)
    found, error = run["extension"], run["extension_error"]
    sample = FitSample(frames=frames, nearest=found.nearest, distances=found.distances, fit=fit, error=error)
    made = {each.name: getattr(fit, each.name) for each in fields(fit)}
    made = {name: made[name] for name in made if name not in (*OF_ALL, "weights", "sample")}
    made |= _extended(frames, fit, found) | {"data": data}
    outer = Run(fit.settings, made, store=store, key=run.key("extension"), means=means)
    results = outer.assemble([each.name for each in fields(fit)])
    results["chosen"] = {"fit_frames": str(sample)} | fit.chosen | results["chosen"]
    results["warnings"] = tuple(dict.fromkeys([*fit.warnings, *run.warnings, *results["warnings"]]))
    return results | {"sample": sample}


def _extended(frames: np.ndarray, fit: Any, found: Extension) -> dict[str, Any]:
    """Extend the results of a fit that have one entry per frame to all frames."""
    nearest, peaks, scan = found.nearest, fit.peaks, fit.beta_scan

    def of_all_frames(cores: Cores) -> Cores:
        return Cores(cores.basins[nearest], cores.core_of[nearest], frames[cores.peaks], cores.prominence)

    if scan is not None:
        scan = replace(scan, frames=frames if scan.frames is None else frames[scan.frames])
    return {
        "sampled_density": fit.sampled_density[nearest],
        "log_density": fit.log_density[nearest],
        "peaks": replace(
            peaks,
            peaks=frames[peaks.peaks].astype(np.int32),
            saddles=np.where(peaks.saddles < 0, -1, frames[peaks.saddles]).astype(np.int32),
            ascents=peaks.ascents[nearest],
        ),
        "cores": of_all_frames(fit.cores),
        "milestones": of_all_frames(fit.milestones),
        "beta_scan": scan,
        "memberships": replace(
            fit.memberships,
            values=found.values,
            lost=found.lost,
            log_weights=fit.memberships.log_weights[nearest],
        ),
    }
