"""The choice of the walk temperature beta: a scan over a range, and the reason for the chosen value."""

from collections.abc import Mapping
from typing import Any

from mdfuzzy._check import InputValueError
from mdfuzzy._choices import Kernel, WalkWeights
from mdfuzzy._messages import warn_user
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics import kinetic_criterion
from mdfuzzy.memberships.beta_scan import LEFT_OUT, BetaScan, default_betas, scan_beta
from mdfuzzy.memberships.weights import BETA_MEANS
from mdfuzzy.states.cores import Cores


def scan_walk(
    data: Trajectories | None,
    found: Mapping[str, Any],
    milestones: Cores,
    *,
    beta: float | str,
    kernel: Kernel,
    walk_weights: WalkWeights,
    unit_density: bool,
    n_jobs: int | None,
) -> BetaScan:
    """Scan beta on the graph and in the states of the clustering.

    Parameters
    ----------
    data : Trajectories or None
        The clustered data.
    found : mapping
        The results of the steps `walk`, `log_density`, `sampled_density`, `cores`, `dimension`, `bandwidth`
        and `weights`.
    milestones : Cores
        The cores between which transitions are counted.
    beta : float or str
        The setting: a number, or the criterion that chooses one.
    kernel, walk_weights, unit_density, n_jobs
        Passed on to `scan_beta`.
    """
    automatic = isinstance(beta, str)
    if beta == "kinetic" and data is None:
        raise InputValueError(
            "`beta` must be a number or 'entropy' without trajectories; got 'kinetic'. Neighbours alone do "
            "not show which state the molecule visits next."
        )
    scan = scan_beta(
        found["walk"],
        found["log_density"],
        found["cores"],
        betas=None if isinstance(beta, str) else [*default_betas(), beta],
        criterion=kinetic_criterion(data, milestones) if data is not None and beta == "kinetic" else None,
        weights=found["weights"],
        sampled=None if found["weights"] is None else found["sampled_density"],
        walk_weights=walk_weights,
        unit_density=unit_density,
        kernel=kernel,
        bandwidth=found["bandwidth"] if kernel == "gaussian" else None,
        dimension=found["dimension"],
        n_jobs=n_jobs,
    )
    for note in scan.notes:
        if automatic or note.startswith(LEFT_OUT):  # other notes concern the unused choice
            warn_user(note)
    return scan


def explain_beta(scan: BetaScan, criterion: str) -> str:
    """Return a sentence with the chosen beta and the reason."""
    text = f"beta = {scan.beta:.3g} ({BETA_MEANS}). "
    if criterion == "entropy":
        return text + "There the entropy of the memberships falls most steeply."
    as_simulated = scan.scores[scan.betas == 2.0]  # empty if linear weights are not positive there
    return text + (
        "There the memberships best predict which state the trajectories reach next: their "
        f"logarithmic loss is {scan.scores.max():.1%} below that of a constant prediction"
        + "".join(f" ({score:.1%} at beta = 2)" for score in as_simulated)
        + "."
    )
