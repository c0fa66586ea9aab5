"""Results for the exports, made by hand."""

import numpy as np

import mdfuzzy as mf
from mdfuzzy.kinetics import visits
from mdfuzzy.pipeline.state_table import tabulate_states


def result_of(
    data: mf.Frames | mf.Features,
    cores: mf.Cores,
    memberships: mf.Memberships,
    transition_regions: mf.TransitionRegions | None = None,
    log_density: np.ndarray | None = None,
) -> mf.Assignment:
    """Return an assignment of these parts: of what was fitted nothing is known."""
    n = len(data)
    return mf.Assignment(
        data=data,
        memberships=memberships,
        nearest=np.zeros(n, np.int32),
        distances=np.zeros(n, np.float32),
        cores=cores,
        milestones=cores,
        far=1.0,
        log_density=np.zeros(n) if log_density is None else log_density,
        transition_regions=transition_regions or mf.find_transition_regions(data, memberships, cores),
        visits=visits(data, cores),
        fitted=tabulate_states(None, memberships, cores),
    )
