"""All steps in one call, from frames or features to memberships. Nothing is computed here."""

import os
import warnings
from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
import numpy.typing as npt

from mdfuzzy._states import States, find_states
from mdfuzzy._steps import Parts, Steps, Store
from mdfuzzy._warn import warn_user
from mdfuzzy.beta_scan import BetaScan, default_betas, scan_beta, scan_frames
from mdfuzzy.clustering import Clustering
from mdfuzzy.features import Features
from mdfuzzy.frames import Frames
from mdfuzzy.graph import Graph
from mdfuzzy.interfaces import Interfaces, find_interfaces
from mdfuzzy.kinetics import Visits, kinetic_criterion, timestep, visits
from mdfuzzy.memberships import Memberships, solve_memberships
from mdfuzzy.neighbors import Neighbors, euclidean_neighbors
from mdfuzzy.rmsd import rmsd_neighbors
from mdfuzzy.settings import Settings
from mdfuzzy.stability import KScan, Resampling, resample_states, states_by_k


def cluster(
    data: Frames | Features | npt.ArrayLike | Sequence[npt.ArrayLike],
    settings: Settings | None = None,
    *,
    store: Store | None = None,
    progress: bool | None = None,
) -> Clustering:
    """Find the states of a molecule and how strongly every frame belongs to each.

    Parameters
    ----------
    data : Frames, Features, (n, d) array or sequence of (n_i, d) arrays
        `Frames` are compared by RMSD, features by Euclidean distance. A sequence holds one array per
        trajectory; for periodic columns make `Features` of them.
    settings : Settings, optional
        All choices; by default every one is made from the data, but for beta, which is 2.
    store : RunDir, optional
        Where finished steps are kept and found again: `RunDir("folder")`.
    progress : bool, optional
        Show a bar during the search for neighbours; by default on a terminal.

    Returns
    -------
    Clustering
        With the results of all steps.

    Warns
    -----
    UserWarning
        What the steps warn of; also in `Clustering.warnings`.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> trajectories = [rng.normal(size=(400, 2)) + shift for shift in (0, 6, 12)]
    >>> result = mf.cluster(trajectories, mf.Settings(beta=1.0))
    >>> result.n_states, result.memberships.values.shape
    (3, (1200, 3))
    >>> print(result.chosen["k"])
    k = 25 neighbours per frame, by the number of frames (1,200); the density uses 50.
    """
    settings = Settings() if settings is None else settings
    if not isinstance(settings, Settings):
        raise TypeError(f"`settings` must be `Settings`; got {settings!r}. Use mf.Settings(k=50, ...).")
    data = as_data(data)
    if settings.resamples and data.n_trajectories < 2:
        raise ValueError(
            f"`resamples` must be 0 for one trajectory; got {settings.resamples}. Whole trajectories are "
            "drawn anew."
        )
    if store is not None and not hasattr(store, "begin"):
        raise TypeError(f"`store` must be a `RunDir`; got {store!r}. Use store=mf.RunDir({str(store)!r}).")
    n_neighbors = settings.n_neighbors(len(data))
    from mdfuzzy._kernels.compiling import announced

    with announced(), nullcontext() if store is None else store.lock():
        steps = Steps() if store is None else Steps(store, store.begin(data, settings))
        neighbors = steps.run(
            "neighbors",
            Neighbors,
            lambda parts: search_neighbors(data, n_neighbors, settings, progress=progress, store=parts),
            needs=["data"],
            used={"n_neighbors": n_neighbors, "recall": settings.recall},
        )
        return cluster_neighbors(neighbors, settings, data=data, steps=steps)


def cluster_neighbors(
    neighbors: Neighbors,
    settings: Settings,
    *,
    data: Frames | Features | None = None,
    steps: Steps | None = None,
) -> Clustering:
    """Do all that follows the search for neighbours.

    Parameters
    ----------
    neighbors : Neighbors
        At least 2k of every point.
    settings : Settings
        All choices.
    data : Frames or Features, optional
        What they are neighbours in: needed to choose beta on some of the frames, if there are very many.
    steps : Steps, optional
        What has been done so far.

    Returns
    -------
    Clustering
    """
    steps = Steps() if steps is None else steps
    states = find_states(neighbors, settings, steps)
    needs = ["log_density", "cores", "dimension", "window"]
    used = {name: getattr(settings, name) for name in ("graph", "kernel", "weights", "unit_density")}
    walk = _walk(neighbors, states, settings)
    scan = None
    automatic = isinstance(settings.beta, str)
    if settings.beta == "kinetic" and data is None:
        raise ValueError(
            "`beta` must be a number or 'entropy' without trajectories; got 'kinetic'. Neighbours alone do "
            "not tell where the molecule goes next."
        )
    if automatic or settings.scan_beta:
        scan = steps.run(
            "beta_scan",
            BetaScan,
            lambda parts: _scan(walk, states, settings, data),
            needs=["data", *needs],
            used=used | {"criterion": settings.beta, "k": settings.k},
        )
    if automatic:
        steps.choose("beta", _reason(scan, settings.beta))
    beta = scan.beta if automatic else settings.beta
    memberships = steps.run(
        "memberships",
        Memberships,
        lambda parts: solve_memberships(
            walk,
            states.log_density,
            states.cores,
            beta=beta,
            **_walk_options(states, settings),
        ),
        needs=needs,
        used=used | {"beta": beta},
    )
    times = {} if data is None else _follow_trajectories(data, states, memberships, steps)
    stability = _examine_stability(neighbors, states, settings, data, steps)
    return Clustering(
        data=data,
        settings=settings,
        neighbors=neighbors,
        beta_scan=scan,
        memberships=memberships,
        chosen=steps.chosen,
        warnings=tuple(steps.warnings),
        **times,
        **stability,
        **vars(states),
    )


def search_neighbors(
    data: Frames | Features,
    n_neighbors: int,
    settings: Settings,
    *,
    progress: bool | None = None,
    store: Parts | None = None,
) -> Neighbors:
    """Search by RMSD in frames, by Euclidean distance in features; see `rmsd_neighbors`."""
    options = {"n_neighbors": n_neighbors, "n_jobs": settings.n_jobs}
    if isinstance(data, Frames):
        return rmsd_neighbors(data, recall=settings.recall, progress=progress, store=store, **options)
    return euclidean_neighbors(data, **options)


def as_data(data: Frames | Features | npt.ArrayLike | Sequence[npt.ArrayLike]) -> Frames | Features:
    """Return frames or features; arrays become features."""
    if not isinstance(data, Frames | Features):
        for part in data if isinstance(data, list | tuple) else [data]:
            if isinstance(part, str | os.PathLike) or hasattr(part, "xyz"):
                raise TypeError(
                    f"`data` must be Frames, Features or arrays of features; got {part!r}. Read trajectories "
                    "with mf.load(...)."
                )
        data = Features(data)
    if len(data) < 3:
        raise ValueError(f"`data` must hold at least 3 frames; got {len(data)}. States need a sample.")
    return data


def _walk(neighbors: Neighbors, states: States, settings: Settings) -> Graph:
    """Return the edges that the walk uses."""
    return states.graph if settings.graph == "union" else neighbors.graph(k=states.k, kind="directed")


def _walk_options(states: States, settings: Settings) -> dict[str, object]:
    """Return the options of `solve_memberships` but for beta."""
    return {
        "weights": settings.weights,
        "unit_density": settings.unit_density,
        "kernel": settings.kernel,
        "scale": states.window if settings.kernel == "gaussian" else None,
        "dimension": states.dimension,
        "n_jobs": settings.n_jobs,
    }


def _scan(walk: Graph, states: States, settings: Settings, data: Frames | Features | None) -> BetaScan:
    """Scan beta; if there are too many frames, on some of them, whose states are found anew."""
    automatic = isinstance(settings.beta, str)
    frames = None if data is None else scan_frames(len(data))
    scanned = states
    if frames is not None:
        part = _pick(data, frames)
        neighbors = search_neighbors(part, settings.n_neighbors(len(part)), settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about the states of these frames, which are not kept
            scanned = find_states(neighbors, settings, Steps())
        walk = _walk(neighbors, scanned, settings)
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
        **_walk_options(scanned, settings),
    )
    for note in scan.notes if automatic else ():
        warn_user(note)
    return scan


def _reason(scan: BetaScan, criterion: str) -> str:
    """Say which beta was chosen, and why."""
    some = "" if scan.frames is None else f" (of {len(scan.frames):,} frames, evenly spaced)"
    text = f"beta = {scan.beta:.3g} (2: as simulated, smaller: colder): there "
    if criterion == "entropy":
        return text + f"the entropy of the memberships{some} falls most steeply."
    as_simulated = scan.scores[scan.betas == 2.0][0]
    return text + (
        f"the memberships{some} foretell best which state the trajectories reach next: they resolve "
        f"{scan.scores.max():.1%} of what a constant guess leaves open, {as_simulated:.1%} at beta = 2."
    )


def _pick(data: Frames | Features, frames: np.ndarray) -> Frames | Features:
    """Return some of the frames as one trajectory."""
    if isinstance(data, Frames):
        return Frames(data.xyz[frames], [len(frames)])
    return Features(data.values[frames], periodic=data.periodic, period=data.period)


def _follow_trajectories(
    data: Frames | Features, states: States, memberships: Memberships, steps: Steps
) -> dict[str, Interfaces | Visits]:
    """Find what the order of the frames says about the states."""
    return {
        "interfaces": steps.run(
            "interfaces",
            Interfaces,
            lambda parts: find_interfaces(data, memberships, states.milestones),
            needs=["data", "milestones", "memberships"],
        ),
        "visits": steps.run(
            "visits",
            Visits,
            lambda parts: visits(data, states.milestones),
            needs=["data", "milestones"],
            used={"timestep": timestep(data)},
        ),
    }


def _examine_stability(
    neighbors: Neighbors, states: States, settings: Settings, data: Frames | Features | None, steps: Steps
) -> dict[str, KScan | Resampling]:
    """Count the states for other k and for other trajectories, if asked for."""
    found = {}
    options = {"dimension": states.dimension, "level": settings.level}
    if settings.scan_k:
        found["k_scan"] = steps.run(
            "k_scan",
            KScan,
            lambda parts: states_by_k(neighbors, **options),
            needs=["neighbors", "dimension"],
            used={"level": settings.level},
        )
    if settings.resamples and data is not None:
        lengths = data.lengths.tolist()
        draw = {"k": states.k, "n_resamples": settings.resamples, "seed": settings.seed}
        found["resampling"] = steps.run(
            "resampling",
            Resampling,
            lambda parts: resample_states(neighbors, lengths, **draw, **options),
            needs=["neighbors", "dimension"],
            used=draw | {"level": settings.level},
        )
    return found
