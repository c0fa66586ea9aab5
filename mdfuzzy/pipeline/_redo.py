"""Partial recomputation of the results of a run: other states of the same tree, or merged states."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

import mdfuzzy.pipeline._steps  # noqa: F401  (declares the steps)
from mdfuzzy.pipeline._cache import Run
from mdfuzzy.pipeline._sampled import results_of_all
from mdfuzzy.states.cores import Cores
from mdfuzzy.states.merging import merged_numbers

#: Results that do not depend on the choice of the peaks that are states.
_BEFORE_STATES = (
    "data", "weights", "neighbors", "k", "graph", "dimension", "bandwidth", "sampled_density", "log_density",
    "peaks", "tree", "k_scan",
)  # fmt: skip


def other_states(result: Any, *, n_states: int | None, prominence: float | None) -> dict[str, Any]:
    """Recompute the steps that follow the choice of the states of a clustering; reuse all earlier results."""
    if result.sample is not None:
        fit = result.sample.fit.at(n_states=n_states, prominence=prominence)
        return results_of_all(result.data, result.sample.frames, fit)
    settings = replace(result.settings, n_states=n_states, prominence=prominence)
    run = Run(settings, {name: getattr(result, name) for name in _BEFORE_STATES})
    return run.assemble([each.name for each in fields(result)])


def merged_states(result: Any, groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Merge groups of states of a clustering, and recompute the steps that follow the memberships."""
    number = merged_numbers(result.n_states, groups)
    first = np.unique(number, return_index=True)[1]

    def merged(cores: Cores) -> Cores:
        basins, core_of = (np.append(number, -1)[labels] for labels in (cores.basins, cores.core_of))
        return Cores(basins, core_of, cores.peaks[first], cores.prominence[first])

    sums = np.zeros((len(first), len(result)))
    np.add.at(sums, number, result.memberships.values.T)
    made = {name: getattr(result, name) for name in (*_BEFORE_STATES, "prominence")}
    made |= {"cores": merged(result.cores), "milestones": merged(result.milestones)}
    made |= dict.fromkeys(("beta_scan", "splits"))  # no level of the tree has these states
    made["memberships"] = replace(result.memberships, values=np.minimum(sums.T, 1.0))
    results = Run(result.settings, made).assemble([each.name for each in fields(result)])
    if result.sample is not None:
        results["sample"] = replace(result.sample, fit=result.sample.fit.merge(*groups))
    return results
