"""One decorator for every kernel: it is compiled on the first call and kept on disk if possible."""

from collections.abc import Callable
from typing import Any

import numba


def compiled(**options: object) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function with numba's nopython mode and no division check, cached on disk if possible.

    ``error_model="numpy"`` matters: Python's check for division by zero alone blocks vectorisation.
    If no cache directory is writable, numba refuses to decorate; the kernel is then compiled again in every
    process.
    """
    if numba.config.DISABLE_JIT:
        raise ImportError(
            "mdfuzzy needs compiled kernels, but the variable NUMBA_DISABLE_JIT forbids to compile. Unset it."
        )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return numba.njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            return numba.njit(error_model="numpy", **options)(function)

    return decorate
