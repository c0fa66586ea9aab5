"""The walk of a run: the edges and weights that its settings ask for, and the choice of its beta."""

import warnings

import numpy as np

from mdfuzzy._warn import warn_user
from mdfuzzy.frames.features import Features
from mdfuzzy.frames.frames import Frames
from mdfuzzy.kinetics import kinetic_criterion
from mdfuzzy.memberships.beta_scan import LEFT_OUT, BetaScan, default_betas, scan_beta, scan_frames
from mdfuzzy.memberships.weights import BETA_MEANS
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline._cache import Steps
from mdfuzzy.pipeline._find_states import States, find_states, search_neighbors
from mdfuzzy.pipeline.settings import Settings


def walk_edges(neighbors: Neighbors, states: States, settings: Settings) -> Graph:
    """Return the edges that the walk uses."""
    return states.graph if settings.graph == "union" else neighbors.graph(k=states.k, kind="directed")


def walk_options(states: States, settings: Settings) -> dict[str, object]:
    """Return the options of `solve_memberships` but for beta."""
    return {
        "walk_weights": settings.walk_weights,
        "unit_density": settings.unit_density,
        "kernel": settings.kernel,
        "bandwidth": states.bandwidth if settings.kernel == "gaussian" else None,
        "dimension": states.dimension,
        "n_jobs": settings.n_jobs,
    }


def scan_walk(walk: Graph, states: States, settings: Settings, data: Frames | Features | None) -> BetaScan:
    """Scan beta; if there are too many frames, on some of them, whose states are found anew."""
    automatic = isinstance(settings.beta, str)
    frames = None if data is None else scan_frames(len(data))
    scanned = states
    if frames is not None:
        part = pick_frames(data, frames)
        neighbors = search_neighbors(part, settings.n_neighbors(len(part)), settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about the states of these frames, which are not kept
            scanned = find_states(neighbors, settings, Steps())
        walk = walk_edges(neighbors, scanned, settings)
        if len(scanned.cores) != len(states.cores):
            verb = "chosen" if automatic else "scanned"
            warn_user(
                f"beta was {verb} on {len(part):,} of the frames, in which there are {len(scanned.cores)} "
                f"states, not {len(states.cores)}. Compare the result with that of another beta."
            )
    criterion = None
    if settings.beta == "kinetic":
        # Where the molecule goes next is seen in all frames; a few of them would step over visits to cores.
        matching = None if frames is None else states.cores.basins[frames[scanned.cores.peaks]]
        criterion = kinetic_criterion(data, states.milestones, frames=frames, states=matching)
    scan = scan_beta(
        walk,
        scanned.log_density,
        scanned.cores,
        betas=None if automatic else np.append(default_betas(), settings.beta),
        criterion=criterion,
        frames=frames,
        **walk_options(scanned, settings),
    )
    for note in scan.notes:
        if automatic or note.startswith(LEFT_OUT):  # the others are about the choice, which is not used
            warn_user(note)
    return scan


def explain_beta(scan: BetaScan, criterion: str) -> str:
    """Say which beta was chosen, and why."""
    some = "" if scan.frames is None else f" (of {len(scan.frames):,} frames, evenly spaced)"
    text = f"beta = {scan.beta:.3g} ({BETA_MEANS}): there "
    if criterion == "entropy":
        return text + f"the entropy of the memberships{some} falls most steeply."
    as_simulated = scan.scores[scan.betas == 2.0]  # none if linear weights are not positive there
    return text + (
        f"the memberships{some} predict best which state the trajectories reach next: they resolve "
        f"{scan.scores.max():.1%} of what a constant guess leaves open"
        + "".join(f", {score:.1%} at beta = 2" for score in as_simulated)
        + "."
    )


def pick_frames(data: Frames | Features, frames: np.ndarray) -> Frames | Features:
    """Return some of the frames as one trajectory."""
    if isinstance(data, Frames):
        return Frames(data.xyz[frames], [len(frames)])
    return Features(data.values[frames], periodic=data.periodic, period=data.period)
