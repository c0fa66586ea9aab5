"""All steps in one call, from frames or features to memberships. Nothing is computed here."""

import os
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Literal

import numpy.typing as npt

from mdfuzzy._check import check_type
from mdfuzzy.frames.features import Features
from mdfuzzy.frames.frames import Frames
from mdfuzzy.kinetics import Visits, timestep, visits
from mdfuzzy.kinetics.transition_regions import TransitionRegions, find_transition_regions
from mdfuzzy.memberships.beta_scan import BetaScan
from mdfuzzy.memberships.memberships import Memberships, solve_memberships
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline._cache import Steps, Store
from mdfuzzy.pipeline._choose_beta import explain_beta, scan_walk, walk_edges, walk_options
from mdfuzzy.pipeline._find_states import States, find_states, search_neighbors
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.settings import Settings
from mdfuzzy.states.stability import KScan, StateBootstrap, bootstrap_states, states_by_k

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client


def cluster(
    data: Frames | Features | npt.ArrayLike | Sequence[npt.ArrayLike],
    settings: Settings | None = None,
    *,
    store: Store | None = None,
    progress: bool | None = None,
    client: "Client | None" = None,
    layout: Literal["scattered", "sharded"] | None = None,
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
    client : distributed.Client, optional
        Search the neighbours of frames on the workers of this Dask cluster; see `rmsd_neighbors`.
    layout : {"scattered", "sharded"}, optional
        How the frames are laid out there.

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
    check_type("settings", settings, Settings, remedy="Use mf.Settings(k=50, ...).")
    data = as_data(data)
    if settings.bootstrap and data.n_trajectories < 2:
        raise ValueError(
            f"`bootstrap` must be 0 for one trajectory; got {settings.bootstrap}. Whole trajectories are "
            "drawn anew."
        )
    if store is not None and not hasattr(store, "begin"):
        raise TypeError(f"`store` must be a `RunDir`; got {store!r}. Use store=mf.RunDir({str(store)!r}).")
    if client is not None and not isinstance(data, Frames):
        raise ValueError(
            "`client` must be None for features; got a client. Only neighbours by RMSD are searched on a "
            "cluster."
        )
    n_neighbors = settings.n_neighbors(len(data))
    from mdfuzzy._kernels.compiling import announced

    with announced(), nullcontext() if store is None else store.lock():
        steps = Steps() if store is None else Steps(store, store.begin(data, settings))
        neighbors = steps.run(
            "neighbors",
            Neighbors,
            lambda parts: search_neighbors(
                data,
                n_neighbors,
                settings,
                progress=progress,
                store=parts,
                client=client,
                layout=layout,
            ),
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
    needs = ["log_density", "cores", "dimension", "bandwidth"]
    used = {name: getattr(settings, name) for name in ("graph", "kernel", "walk_weights", "unit_density")}
    walk = walk_edges(neighbors, states, settings)
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
            lambda parts: scan_walk(walk, states, settings, data),
            needs=["data", *needs],
            used=used | {"criterion": settings.beta, "k": settings.k},
        )
    if automatic:
        steps.choose("beta", explain_beta(scan, settings.beta))
    beta = scan.beta if automatic else settings.beta
    memberships = steps.run(
        "memberships",
        Memberships,
        lambda parts: solve_memberships(
            walk,
            states.log_density,
            states.cores,
            beta=beta,
            **walk_options(states, settings),
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


def _follow_trajectories(
    data: Frames | Features, states: States, memberships: Memberships, steps: Steps
) -> dict[str, TransitionRegions | Visits]:
    """Find what the order of the frames says about the states."""
    return {
        "transition_regions": steps.run(
            "transition_regions",
            TransitionRegions,
            lambda parts: find_transition_regions(data, memberships, states.milestones),
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
) -> dict[str, KScan | StateBootstrap]:
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
    if settings.bootstrap and data is not None:
        lengths = data.lengths.tolist()
        draw = {"k": states.k, "n_bootstrap": settings.bootstrap, "seed": settings.seed}
        found["bootstrap"] = steps.run(
            "bootstrap",
            StateBootstrap,
            lambda parts: bootstrap_states(neighbors, lengths, **draw, **options),
            needs=["neighbors", "dimension"],
            used=draw | {"level": settings.level},
        )
    return found
