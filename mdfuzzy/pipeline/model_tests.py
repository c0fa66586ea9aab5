"""Tests of a Markov model of the states of a clustering."""

from mdfuzzy._check import check_type
from mdfuzzy.kinetics.validation import Validation, validate_cores
from mdfuzzy.pipeline.clustering import Clustering


def validate_model(result: Clustering, *, n_bootstrap: int = 50, seed: int = 0) -> Validation:
    """Test Markov models of the states of a clustering, and choose the lag of one.

    Discrete trajectories are milestoned with `Clustering.milestones`: a frame between these belongs to the
    one that was visited last. The lag is the shortest one from which on the slowest timescale does not rise
    (at no longer lag above its interval at this one; without an interval: by no more than 10 %), and of which
    five steps, those of the Chapman-Kolmogorov test, are at least a tenth of it. At lags that are not short
    beside the trajectories it falls again, because the ends of trajectories cut it; that does not count.

    Parameters
    ----------
    result : Clustering
        Of frames or features of trajectories.
    n_bootstrap : int
        How many times whole trajectories are drawn anew for the intervals.
    seed : int
        Of the random numbers.

    Returns
    -------
    Validation
        Without tests, and with the reason, if the trajectories do not pass to and fro between two states.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=10), mf.Settings(prominence=1.0))
    >>> validation = mf.validate_model(result)
    >>> print(validation.reason)
    The slowest timescale, ... ps at a lag of ... ps, ...
    """
    check_type("result", result, Clustering, remedy="`cluster` makes it.")
    return validate_cores(result.data, result.milestones, n_bootstrap=n_bootstrap, seed=seed)
