"""Fuzzy mode-seeking clustering as a scikit-learn estimator: a thin wrapper around the steps."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from mdfuzzy._check import InputValueError, check_choice, check_int
from mdfuzzy._choices import BetaCriterion, CoreRule, Density, Kernel, WalkGraph, WalkWeights
from mdfuzzy.frames.features import Features
from mdfuzzy.frames.weights import frame_weights
from mdfuzzy.memberships.extension import extend_memberships
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.neighbors.copies import count_different
from mdfuzzy.neighbors.neighbors import euclidean_neighbors
from mdfuzzy.neighbors.precomputed import count_neighbors, nearest_of
from mdfuzzy.pipeline.run import cluster_neighbors
from mdfuzzy.pipeline.settings import Settings, describe_settings, resolve_k

#: The parameters that have the same meaning as in `Settings`, and use its help texts.
_SETTINGS = (
    *(
        "k",
        "prominence",
        "n_states",
        "dimension",
        "density",
        "bandwidth",
        "level",
        "core_rule",
        "core_agreement",
        "core_share",
        "core_least",
    ),
    *("walk_graph", "kernel", "walk_weights", "unit_density"),
)


def _documented(kind: type) -> type:
    """Insert the help texts of the settings into a docstring, with "point" in place of "frame"."""
    for place, names in (("    {settings}", _SETTINGS), ("    {n_jobs}", ["n_jobs"])):
        texts = describe_settings(names).replace("frame", "point")
        kind.__doc__ = (kind.__doc__ or "").replace(place, texts)  # python -OO leaves no docstring
    return kind


@_documented
class FuzzyModeSeeking(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator):
    """Cluster points around the prominent peaks of their density, with fuzzy memberships.

    Parameters
    ----------
    {settings}
    beta : float or "entropy"
        Walk temperature: 2 is the diffusion whose stationary density is the density of the points. Smaller
        values are colder and give harder clusters. "entropy" chooses the value.
    metric : {"euclidean", "precomputed"}
        With "precomputed", X is a matrix of distances between all points, or a sparse one that
        holds the distances of every point to at least 2k neighbours (`kneighbors_graph` with
        ``mode="distance"``); `predict` then takes the distances of new points (rows) to the fitted ones.
    {n_jobs}

    Attributes
    ----------
    labels_ : (n,) int32
        The cluster in which each point has its largest membership; -1 for a point that cannot reach any core.
    memberships_ : (n, clusters) float64
        The memberships. Rows sum to 1; on a directed graph they sum to less where part of the walk reaches no
        core.
    cores_ : (n,) int32
        The core that contains each point; -1 outside every core.
    n_clusters_ : int
        The number of clusters.
    clustering_ : Clustering
        The results of all steps, with the automatic choices and their reasons.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : (features,) array
        The names of the features, if X had any.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> points = rng.normal(size=(400, 2)) + np.repeat([[0, 0], [7, 0]], 200, axis=0)
    >>> model = mf.FuzzyModeSeeking().fit(points)
    >>> model.n_clusters_
    2
    >>> model.predict_proba([[3.5, 0.0]]).shape
    (1, 2)
    """

    def __init__(
        self,
        *,
        k: int | None = None,
        prominence: float | None = None,
        n_states: int | None = None,
        beta: float | BetaCriterion = 2.0,
        dimension: float | None = None,
        density: Density = "dtm",
        bandwidth: float | None = None,
        level: float = 0.01,
        core_rule: CoreRule = "reach",
        core_agreement: float = 0.9,
        core_share: float = 0.1,
        core_least: float = 0.0002,
        walk_graph: WalkGraph = "union",
        kernel: Kernel = "uniform",
        walk_weights: WalkWeights = "power",
        unit_density: bool = False,
        metric: Literal["euclidean", "precomputed"] = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.prominence = prominence
        self.n_states = n_states
        self.beta = beta
        self.dimension = dimension
        self.density = density
        self.bandwidth = bandwidth
        self.level = level
        self.core_rule = core_rule
        self.core_agreement = core_agreement
        self.core_share = core_share
        self.core_least = core_least
        self.walk_graph = walk_graph
        self.kernel = kernel
        self.walk_weights = walk_weights
        self.unit_density = unit_density
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(
        self, X: npt.ArrayLike, y: object = None, sample_weight: npt.ArrayLike | None = None
    ) -> FuzzyModeSeeking:
        """Find the clusters and the memberships of `X`, points or `Features`; `y` is ignored.

        With `sample_weight`, (n,), the density of the weighted points is used.
        """
        settings = self._settings()
        X = self._check(X, reset=True)
        data, weights = None, None
        if sample_weight is not None:
            given = np.asarray(sample_weight)
            zero = given.dtype.kind in "biuf" and not given.any()
            weights = given if zero else _check_sample_weight(sample_weight, X, dtype=np.float64)
            if zero or weights.min() < 0:
                raise InputValueError(
                    f"`sample_weight` must be at least 0, and not all zero; got {weights.min():g} to "
                    f"{weights.max():g}. Give each point the factor by which it counts."
                )
            weights = frame_weights(weights, None, lengths=np.array([X.shape[0]]))
        if self.metric == "euclidean":
            data = Features(X, weights=weights)
            n_neighbors = settings.n_neighbors(len(X), n_different=count_different(X))
            neighbors = euclidean_neighbors(X, n_neighbors=n_neighbors, n_jobs=self.n_jobs)
        else:
            known = count_neighbors(X, queries=False)
            k = resolve_k(settings.k, X.shape[0], n_neighbors=known)
            neighbors = nearest_of(X, 2 * k, queries=False)
        self.clustering_ = cluster_neighbors(neighbors, settings, data=data, weights=weights)
        self.memberships_ = self.clustering_.memberships.values
        self.labels_ = self.clustering_.memberships.hard
        self.cores_ = self.clustering_.cores.core_of
        self.n_clusters_ = self.clustering_.n_states
        return self

    def fit_transform(
        self, X: npt.ArrayLike, y: object = None, sample_weight: npt.ArrayLike | None = None
    ) -> np.ndarray:
        """Fit to `X` and return its memberships, (n, clusters); `y` and `sample_weight` as in `fit`."""
        return self.fit(X, sample_weight=sample_weight).memberships_.copy()

    def fit_predict(
        self, X: npt.ArrayLike, y: object = None, sample_weight: npt.ArrayLike | None = None
    ) -> np.ndarray:
        """Fit to `X` and return the clusters, (n,) int32; `y` is ignored, `sample_weight` as in `fit`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the cluster in which each point of `X` has its largest membership, (m,) int32."""
        return self._extend(X).hard

    def predict_proba(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the memberships of the points `X`, (m, clusters).

        A fitted point gets its own memberships. Another point gets the memberships of one step of the walk to
        its neighbours.
        """
        return self._extend(X).values.copy()

    def transform(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the memberships of the points `X` as features, (m, clusters)."""
        return self.predict_proba(X)

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        given = self.metric == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.sparse = tags.input_tags.positive_only = given
        return tags

    def _settings(self) -> Settings:
        check_choice("metric", self.metric, ("euclidean", "precomputed"))
        if self.beta == "kinetic":
            raise InputValueError(
                "`beta` must be a number or 'entropy'; got 'kinetic'. That needs trajectories, while "
                "rows of X have no order: use mf.cluster."
            )
        shared = {each.name for each in fields(Settings)} & set(self.get_params(deep=False))
        return Settings(**{name: getattr(self, name) for name in shared})

    def _check(self, X: npt.ArrayLike, *, reset: bool) -> np.ndarray:
        given = self.metric == "precomputed"
        return validate_data(
            self,
            getattr(X, "embedded", X),  # of `Features`: the vectors that are compared
            reset=reset,
            dtype=np.float64,
            accept_sparse="csr" if given else False,
            ensure_min_samples=3 if reset else 1,
            ensure_non_negative=given,
        )

    def _extend(self, X: npt.ArrayLike) -> Memberships:
        check_is_fitted(self)
        X = self._check(X, reset=False)
        k = self.clustering_.k
        if self.metric == "euclidean":
            assert self.clustering_.data is not None, "vectors were fitted"
            fitted = self.clustering_.data.columns
            neighbors = euclidean_neighbors(fitted, n_neighbors=k, queries=X, n_jobs=self.n_jobs)
            # A search by dot products leaves rounding errors in the distances between equal points.
            equal = np.all(fitted[neighbors.indices[:, 0]] == X, axis=1)
            distances = neighbors.distances.copy()
            distances[equal, 0] = 0.0
            neighbors = replace(neighbors, distances=distances)
        else:
            known = count_neighbors(X, queries=True)
            remedy = "Give the distances of every new point to at least k fitted ones."
            check_int("neighbours in X", known, k, remedy=remedy)
            neighbors = nearest_of(X, k, queries=True)
        return extend_memberships(self.clustering_.memberships, neighbors)
