"""All steps in one call, from frames or features to memberships. This module only calls the steps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

import mdfuzzy.pipeline._steps  # noqa: F401  (declares the steps)
from mdfuzzy._check import InputTypeError, InputValueError, check_type
from mdfuzzy._threads import limited_threads
from mdfuzzy.frames.data import as_data
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.frames.weights import Weights, frame_weights
from mdfuzzy.kinetics.dtrajs import NO_KINETICS
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline._cache import Run, Store
from mdfuzzy.pipeline._sampled import OF_ALL, results_of_all
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.plan import plan_memory
from mdfuzzy.pipeline.sample import evenly_spaced
from mdfuzzy.pipeline.settings import Settings, check_fit_frames, resolve_k

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client


def cluster(
    data: Trajectories | Neighbors | npt.ArrayLike | Sequence[npt.ArrayLike],
    settings: Settings | None = None,
    *,
    weights: Weights | None = None,
    log_weights: Weights | None = None,
    store: Store | None = None,
    progress: bool | None = None,
    client: Client | None = None,
    layout: Literal["scattered", "sharded"] | None = None,
    memory: float | str | None = None,
) -> Clustering:
    """Find the metastable states of a molecule and the membership of every frame in each state.

    Parameters
    ----------
    data : Frames, Features, Neighbors, (n, d) array or sequence of (n_i, d) arrays
        `Frames` are compared by RMSD, features by Euclidean distance. A sequence holds one array per
        trajectory. Convert arrays with periodic columns to `Features` first. Precomputed `Neighbors` are used
        unchanged; they hold no trajectories, so the result has no kinetics.
    settings : Settings, optional
        All settings. By default each is chosen from the data, except the walk temperature `beta`, which is 2.
    weights, log_weights : array or sequence of arrays, optional
        The weight of each frame, or its logarithm up to a constant, if the frames were sampled from an
        ensemble other than the one of interest. They replace the weights of `data`. See
        `Trajectories.weighted`.
    store : RunDir, optional
        The folder in which finished steps are saved and from which they are reused: `RunDir("folder")`.
    progress : bool, optional
        Whether to show a progress bar during the search for neighbours; by default only in a terminal.
    client : distributed.Client, optional
        Search the neighbours, and assign frames that were not fitted, on the workers of this Dask cluster;
        see `rmsd_neighbors`.
    layout : {"scattered", "sharded"}, optional
        How the frames are distributed among the workers.
    memory : float or str, optional
        The memory in bytes that the clustering may use, such as 8e9 or ``"8GB"``; by default most of the
        memory of the machine. If all frames need more, the states are found on as many frames as fit
        (`Settings.fit_frames`), and `Clustering.sample` reports the effect on the memberships.

    Returns
    -------
    Clustering
        The results of all steps.

    Raises
    ------
    SolveError
        If the memberships do not converge.

    Warns
    -----
    UserWarning
        All warnings of the steps are also stored in `Clustering.warnings`.

    See Also
    --------
    assign : Memberships of new frames in the states of a clustering.
    FuzzyModeSeeking : The same method as a scikit-learn estimator.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> trajectories = [rng.normal(size=(400, 2)) + shift for shift in (0, 6, 12)]
    >>> result = mf.cluster(trajectories, mf.Settings(beta=1.0))
    >>> result.n_states, result.memberships.values.shape
    (3, (1200, 3))
    >>> print(result.chosen["k"])
    k = 25 neighbours per frame, set by the number of frames (1,200); ...
    """
    settings = Settings() if settings is None else settings
    check_type("settings", settings, Settings, remedy="Use mf.Settings(k=50, ...).")
    if store is not None and not hasattr(store, "begin"):
        raise InputTypeError(
            f"`store` must be a `RunDir`; got {store!r}. Use store=mf.RunDir({str(store)!r})."
        )
    if isinstance(data, Neighbors):
        lengths = np.array([len(data)])
        found = frame_weights(weights, log_weights, lengths=lengths)
        for name, value in (("store", store), ("client", client)):
            if value is not None:
                raise InputValueError(
                    f"`{name}` must be None for neighbours; got {value!r}. They are found already."
                )
        return cluster_neighbors(data, settings, weights=found)
    data = as_data(data)
    if weights is not None or log_weights is not None:
        data = data.weighted(weights, log_weights=log_weights)
    _check_unbiased(settings, data.weights)
    if len(data) < 3:
        raise InputValueError(f"`data` must hold at least 3 frames; got {len(data)}. States need a sample.")
    if layout is not None and not data.metric.superpose:
        raise InputValueError(
            f"`layout` must be None for features; got {layout!r}. Every worker holds all feature vectors."
        )
    resolve_k(settings.k, len(data))  # before anything is written
    if settings.fit_frames is not None:
        check_fit_frames(settings.fit_frames, settings.k)
    settings, check_frames = plan_memory(data, settings, saved=store is not None, memory=memory)
    from mdfuzzy._kernels.compiling import announced

    means = {"progress": progress, "client": client, "layout": layout, "check_frames": check_frames}
    locked = nullcontext() if store is None else store.lock()
    with announced(), limited_threads(settings.n_jobs), locked:
        key = "" if store is None else store.begin(data, settings)
        if settings.fit_frames is not None and settings.fit_frames < len(data):
            return _cluster_sample(data, settings, settings.fit_frames, store=store, key=key, means=means)
        return _assemble(Run(settings, {"data": data}, store=store, key=key, means=means))


def _cluster_sample(
    data: Trajectories, settings: Settings, size: int, *, store: Store | None, key: str, means: dict[str, Any]
) -> Clustering:
    """Find the states in a sample of the frames, and extend the memberships to all frames."""
    frames = evenly_spaced(len(data), size)
    given = {"data": data.sample(frames)}
    run = Run(settings, given, store=store, key=f"{key} {size}", means=means, growing=False)
    names = [each.name for each in fields(Clustering) if each.name not in OF_ALL]
    fit = Clustering(**run.assemble(names))
    return Clustering(**results_of_all(data, frames, fit, store=store, key=run.key(*names), means=means))


def cluster_neighbors(
    neighbors: Neighbors,
    settings: Settings,
    *,
    data: Trajectories | None = None,
    weights: np.ndarray | None = None,
) -> Clustering:
    """Run all steps that follow the search for neighbours.

    Parameters
    ----------
    neighbors : Neighbors
        At least 2k neighbours of every point.
    settings : Settings
        All settings.
    data : Frames or Features, optional
        The data in which these are neighbours. It is needed for kinetics, and for choosing beta on a sample
        of very many frames.
    weights : (n,) float64, optional
        Weights of the points, if `data` is not given.
    """
    inputs = {"data": data, "neighbors": neighbors} | ({} if data is not None else {"weights": weights})
    _check_unbiased(settings, weights if data is None else data.weights)
    with limited_threads(settings.n_jobs):
        return _assemble(Run(settings, inputs))


def _check_unbiased(settings: Settings, weights: np.ndarray | None) -> None:
    """Raise if the settings request results that weighted frames cannot have."""
    if weights is None:
        return
    if settings.validate:
        raise InputValueError(f"`validate` must be False if frames have weights; got True. {NO_KINETICS}")
    if settings.beta == "kinetic":
        raise InputValueError(
            f"`beta` must be a number or 'entropy' if frames have weights; got 'kinetic'. {NO_KINETICS}"
        )
    if settings.walk_weights == "linear":
        raise InputValueError(
            "`walk_weights` must be 'power' if frames have weights; got 'linear', which has no form for them."
        )


def _assemble(run: Run) -> Clustering:
    """Compute every result of a run, in the order of the fields of a clustering."""
    return Clustering(**run.assemble([each.name for each in fields(Clustering)]))
