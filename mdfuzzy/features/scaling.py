"""Scale features of several units so that they can be combined in one distance."""

import logging
from collections.abc import Sequence

import numpy as np

from mdfuzzy.frames.embedding import embed

logger = logging.getLogger("mdfuzzy")

#: The number of rows from which the spread of the columns is estimated.
_SAMPLE = 20_000


def scale_columns(
    values: np.ndarray,
    periods: tuple[float | None, ...],
    units: Sequence[str],
    weights: Sequence[float],
) -> np.ndarray | None:
    """Return the factors that multiply the columns, (d,); None if all are 1.

    Columns of one unit keep their proportions: a distance that varies more counts more. If there are several
    units, the columns of each unit are divided by the root of their mean variance. A column then counts the
    same on average, whatever its unit is. The factors are multiplied by the weights of the features.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(1000, 2)) * [10, 0.1]
    >>> scale_columns(values, (None, None), ["degrees", "nm"], [1, 1]).round(1)
    array([ 0.1, 10.2])
    """
    factors = np.array(weights, np.float64)
    kinds = list(dict.fromkeys(units))
    if len(kinds) > 1:
        rows = np.linspace(0, len(values) - 1, min(len(values), _SAMPLE)).astype(np.int64)
        said = []
        for kind in kinds:
            of_kind = np.flatnonzero([unit == kind for unit in units])
            spread = embed(values[np.ix_(rows, of_kind)], tuple(periods[at] for at in of_kind), None).var(
                axis=0
            )
            scale = float(np.sqrt(spread.sum() / len(of_kind)))
            if scale > 0:
                factors[of_kind] /= scale
                said.append(f"{scale:.3g} {kind or '(no unit)'}")
        logger.info(f"features of different units are divided by their spread: {', '.join(said)}")
    return None if np.all(factors == 1) else factors
