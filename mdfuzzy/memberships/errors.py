"""Errors of the solver."""


class SolveError(RuntimeError):
    """The memberships could not be computed to the accuracy that was asked for.

    Raised by `solve_memberships`, and by everything that calls it, instead of numbers that may be wrong.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> issubclass(mf.SolveError, RuntimeError)
    True
    """
