"""Tests of a Markov model of the states of a clustering."""

from mdfuzzy._check import check_type
from mdfuzzy.kinetics.validation import Validation, validate_cores
from mdfuzzy.pipeline.clustering import Clustering


def validate_model(result: Clustering, *, n_bootstrap: int = 50, seed: int = 0) -> Validation:
    """Test Markov models of the states of a clustering, and choose the lag of one.

    Discrete trajectories are milestoned with `Clustering.milestones`: a frame between these belongs to the
    one that was visited last.

    A process is resolved at a lag if its timescale is at least three times as long. It has converged there if
    at no longer lag that resolves it the timescale is another one, larger or smaller: outside the interval of
    the other (without intervals: by more than 10 %). The lag is the one at which the most processes, counted
    from the slowest, are resolved and have converged; of several the shortest of which the five steps of the
    Chapman-Kolmogorov test reach a tenth of the slowest timescale.

    Parameters
    ----------
    result : Clustering
        Of frames or features of trajectories.
    n_bootstrap : int
        Number of bootstrap samples for the intervals.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    Validation
        Without tests, and with the reason, if the trajectories do not pass to and fro between two states.

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
