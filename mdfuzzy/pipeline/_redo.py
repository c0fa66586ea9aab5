"""Results of a run put together, and done again in part: other states of the same tree, states made one."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

import mdfuzzy.pipeline._steps  # noqa: F401  (declares the steps)
from mdfuzzy.pipeline._cache import Run
from mdfuzzy.states.cores import Cores
from mdfuzzy.states.tree import merged_numbers

#: Fields of a clustering that are no results of steps.
_OF_THE_RUN = ("settings", "chosen", "warnings")
#: Results that do not depend on which peaks are states.
_BEFORE_STATES = (
    "data", "weights", "neighbors", "k", "graph", "dimension", "bandwidth", "sampled_density", "log_density",
    "peaks", "tree", "k_scan",
)  # fmt: skip


def assemble(run: Run, names: Sequence[str]) -> dict[str, Any]:
    """Return every result of a run by name, in this order, with its settings, choices and warnings."""
    results = {name: run[name] for name in names if name not in _OF_THE_RUN}
    return {"settings": run.settings, "chosen": run.chosen, "warnings": tuple(run.warnings), **results}


def other_states(result: Any, *, n_states: int | None, prominence: float | None) -> dict[str, Any]:
    """Do again what follows the choice of the states of a clustering; all before is taken from it."""
    settings = replace(result.settings, n_states=n_states, prominence=prominence)
    run = Run(settings, {name: getattr(result, name) for name in _BEFORE_STATES})
    return assemble(run, [each.name for each in fields(result)])


def merged_states(result: Any, groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Make groups of states of a clustering one, and do again what follows the memberships."""
    number = merged_numbers(result.n_states, groups)
    first = np.unique(number, return_index=True)[1]

    def merged(cores: Cores) -> Cores:
        basins, core_of = (np.append(number, -1)[labels] for labels in (cores.basins, cores.core_of))
        return Cores(basins, core_of, cores.peaks[first], cores.prominence[first])

    sums = np.zeros((len(first), len(result)))
    np.add.at(sums, number, result.memberships.values.T)
    made = {name: getattr(result, name) for name in (*_BEFORE_STATES, "prominence")}
    made |= {"cores": merged(result.cores), "milestones": merged(result.milestones), "beta_scan": None}
    made["memberships"] = replace(result.memberships, values=np.minimum(sums.T, 1.0))
    return assemble(Run(result.settings, made), [each.name for each in fields(result)])
