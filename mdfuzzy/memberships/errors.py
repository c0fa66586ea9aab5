"""Errors of the solver."""


class SolveError(RuntimeError):
    """Report that the memberships could not be computed to the requested accuracy.

    `solve_memberships`, and every function that calls it, raises this error instead of returning numbers that
    may be wrong.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> issubclass(mf.SolveError, RuntimeError)
    True
    """
