"""The choice of the walk temperature beta: a scan over a range, and the reason for the chosen value."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from mdfuzzy._check import InputValueError
from mdfuzzy._choices import Kernel, WalkWeights
from mdfuzzy._messages import warn_user
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics import kinetic_criterion
from mdfuzzy.memberships.beta_scan import LEFT_OUT, BetaScan, default_betas, scan_beta, scan_frames
from mdfuzzy.memberships.weights import BETA_MEANS
from mdfuzzy.states.cores import Cores


def scan_walk(
    data: Trajectories | None,
    found: Mapping[str, Any],
    milestones: Cores,
    elsewhere: Callable[[Trajectories], Mapping[str, Any]],
    *,
    beta: float | str,
    kernel: Kernel,
    walk_weights: WalkWeights,
    unit_density: bool,
    n_jobs: int | None,
) -> BetaScan:
    """Scan beta. With very many frames, scan a sample of them, in which the states are found again.

    Parameters
    ----------
    data : Trajectories or None
        The clustered data.
    found : mapping
        The results of the steps `walk`, `log_density`, `sampled_density`, `cores`, `dimension`, `bandwidth`
        and `weights`.
    milestones : Cores
        The cores between which transitions are counted.
    elsewhere : callable
        Returns the results of the same steps for other data.
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
    frames = None if data is None else scan_frames(len(data))
    scanned = found
    if frames is not None and data is not None:
        scanned = elsewhere(data.subset(frames))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they concern states that are not kept
            states = len(scanned["cores"])
        if states != len(found["cores"]):
            verb = "chosen" if automatic else "scanned"
            warn_user(
                f"beta was {verb} on {len(frames):,} of the frames, in which there are {states} "
                f"states, not {len(found['cores'])}. Compare the result with one at another beta."
            )
    criterion = None
    if beta == "kinetic" and data is not None:
        # The next core is determined from all frames; a sample would miss visits to cores.
        matching = None if frames is None else found["cores"].basins[frames[scanned["cores"].peaks]]
        criterion = kinetic_criterion(data, milestones, frames=frames, states=matching)
    scan = scan_beta(
        scanned["walk"],
        scanned["log_density"],
        scanned["cores"],
        betas=None if isinstance(beta, str) else [*default_betas(), beta],
        criterion=criterion,
        frames=frames,
        weights=scanned["weights"],
        sampled=None if scanned["weights"] is None else scanned["sampled_density"],
        walk_weights=walk_weights,
        unit_density=unit_density,
        kernel=kernel,
        bandwidth=scanned["bandwidth"] if kernel == "gaussian" else None,
        dimension=scanned["dimension"],
        n_jobs=n_jobs,
    )
    for note in scan.notes:
        if automatic or note.startswith(LEFT_OUT):  # other notes concern the unused choice
            warn_user(note)
    return scan


def explain_beta(scan: BetaScan, criterion: str) -> str:
    """Return a sentence with the chosen beta and the reason."""
    some = "" if scan.frames is None else f" (of {len(scan.frames):,} frames, evenly spaced)"
    text = f"beta = {scan.beta:.3g} ({BETA_MEANS}). "
    if criterion == "entropy":
        return text + f"There the entropy of the memberships{some} falls most steeply."
    as_simulated = scan.scores[scan.betas == 2.0]  # empty if linear weights are not positive there
    return text + (
        f"There the memberships{some} best predict which state the trajectories reach next: their "
        f"logarithmic loss is {scan.scores.max():.1%} below that of a constant prediction"
        + "".join(f" ({score:.1%} at beta = 2)" for score in as_simulated)
        + "."
    )
