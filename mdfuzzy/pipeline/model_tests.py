"""Tests of a Markov model of the states of a clustering."""

from mdfuzzy._check import check_type
from mdfuzzy.kinetics.validation import Validation, validate_cores
from mdfuzzy.pipeline.clustering import Clustering


def validate_model(result: Clustering, *, n_bootstrap: int = 50, seed: int = 0) -> Validation:
    """Test Markov models of the states of a clustering, and choose the lag time of one.

    Discrete trajectories are milestoned with `Clustering.milestones`: a frame between milestones belongs to
    the milestone that was visited last.

    A process is resolved at a lag if its timescale is at least three times as long. It has converged there if
    its timescale at every longer lag that resolves it is the same: the timescale at one of the two lags is
    inside the interval of the other (without intervals: within 10 %). The lag is the one at which the most
    processes, counted from the slowest, are resolved and have converged. If several lags qualify, it is the
    shortest one at which the five steps of the Chapman-Kolmogorov test reach a tenth of the slowest
    timescale.

    Parameters
    ----------
    result : Clustering
        A clustering of frames or features of trajectories.
    n_bootstrap : int
        Number of bootstrap samples for the intervals.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    Validation
        If the trajectories do not move back and forth between two states, it holds no tests, but the reason.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=10), mf.Settings(prominence=1.0))
    >>> validation = mf.validate_model(result)
    >>> print(validation.words)
    Markov model: ... Chapman-Kolmogorov test: ...
    """
    check_type("result", result, Clustering, remedy="`cluster` makes it.")
    return validate_cores(result.data, result.milestones, n_bootstrap=n_bootstrap, seed=seed)
