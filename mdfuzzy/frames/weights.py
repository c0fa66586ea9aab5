"""Read weights of frames from arrays, log weights, or columns of COLVAR files."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError, check_numbers, check_real
from mdfuzzy._messages import warn_user
from mdfuzzy.frames.colvar import Colvar, read_colvar

logger = logging.getLogger("mdfuzzy")

#: The type of `weights`: one array or file, or one for each trajectory.
Weights = npt.ArrayLike | str | os.PathLike[str] | Sequence[npt.ArrayLike | str | os.PathLike[str]]

#: The gas constant in kJ/(mol K), because PLUMED writes energies in kJ/mol.
_GAS_CONSTANT = 0.00831446261815324
#: Ends of the names of columns that are used as weights by default, in order of preference.
_LOG, _REWEIGHTING, _WEIGHT, _BIAS = ("logweight", "logweights"), ("rbias",), ("weight", "weights"), ("bias",)
#: Criterion for the drift of a bias. The means of ten blocks of the run must be ordered in time (Kendall's
#: tau of at least this), and the means of the last three and the first three must differ by more than this
#: many kT. In a test with 180 simulations of well-tempered metadynamics in a double well, without the first
#: quarter of each, 178 met the criterion with the instantaneous bias and none with the final bias.
_DRIFT_BLOCKS, _DRIFT_ORDER, _DRIFT_ENERGY = 10, 0.6, 1.0
#: With fewer frames than this, one frame may well hold half of the weight.
_MIN_WARNED = 10
#: The smallest number of frames that is tested for drift.
_MIN_DRIFT = 50


def effective_frames(weights: np.ndarray) -> float:
    r"""Return the effective number of frames, :math:`(\sum w)^2 / \sum w^2` (Kish).

    Examples
    --------
    >>> effective_frames(np.ones(8)), effective_frames(np.array([1.0, 1.0, 0.0]))
    (8.0, 2.0)
    """
    squares = float(np.dot(weights, weights))
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def frame_weights(
    weights: Weights | None,
    log_weights: Weights | None,
    *,
    lengths: np.ndarray,
    times: np.ndarray | None = None,
    temperature: float | None = None,
) -> np.ndarray | None:
    """Return one weight per frame, with a maximum of 1; None if none are given, or all are equal.

    Parameters
    ----------
    weights : array, path, or sequence of them
        Weights of all frames, or one item for each trajectory. A path may name the column, as in
        ``"COLVAR:metad.rbias"``.
    log_weights : array, path, or sequence of them
        The logarithms of the weights, up to a constant, instead of `weights`.
    lengths : (T,) int64
        The number of frames of each trajectory.
    times : (n,) float64 or None
        Times of the frames in ps, used to match the rows of files.
    temperature : float, optional
        The temperature in K, for files that hold a bias in kJ/mol.

    Examples
    --------
    >>> frame_weights([2.0, 1.0, 4.0], None, lengths=np.array([3]))
    array([0.5 , 0.25, 1.  ])
    >>> frame_weights(None, [[0.0, 1.0], [1.0]], lengths=np.array([2, 1])).round(3)
    array([0.368, 1.   , 1.   ])
    """
    if temperature is not None:
        temperature = check_real("temperature", temperature, above=0, remedy="It is in kelvin.")
    if weights is not None and log_weights is not None:
        raise InputTypeError("`log_weights` must be None if `weights` are given; got both. Leave one out.")
    name = "weights" if log_weights is None else "log_weights"
    given = weights if log_weights is None else log_weights
    if given is None:
        if temperature is not None:
            raise InputValueError(
                f"`temperature` must be left out without `weights`; got {temperature:g}. It turns a bias "
                "into weights."
            )
        return None
    parts = _checked_parts(name, given, lengths, times, temperature)
    if any(part.logs for part in parts):
        with np.errstate(divide="ignore"):
            logs = np.concatenate([part.values if part.logs else np.log(part.values) for part in parts])
        found = np.exp(logs - logs.max()) if logs.max() > -np.inf else np.zeros(len(logs))
    else:
        found = np.concatenate([part.values for part in parts])
    if not found.any():
        zero = "0" if name == "weights" else "-inf"
        raise InputValueError(
            f"`{name}` must not all be {zero}; got no other value for {len(found):,} frames."
        )
    found = found / found.max()
    if len(found) > 1 and found.min() == 1.0:
        return None  # all frames have the same weight
    heaviest = int(found.argmax())
    share = float(found[heaviest] / found.sum())
    if share > 0.5 and len(found) >= _MIN_WARNED:
        warn_user(
            f"Frame {heaviest} holds {share:.0%} of the weight of all {len(found):,} frames: results rest on "
            "it alone. Leave out the beginning of the run, where the bias grows, or check its unit."
        )
    return found


def chosen_weights(weights: np.ndarray | None, frames: np.ndarray) -> np.ndarray | None:
    """Return the weights of some frames, with a maximum of 1; None if all are equal or 0.

    Examples
    --------
    >>> chosen_weights(np.array([0.5, 0.25, 1.0, 0.0]), np.array([0, 1]))
    array([1. , 0.5])
    >>> chosen_weights(np.array([0.5, 0.25, 1.0, 0.0]), np.array([3])) is None
    True
    """
    if weights is None:
        return None
    chosen = weights[frames]
    return None if len(chosen) == 0 or chosen.min() == chosen.max() else chosen / chosen.max()


@dataclass(frozen=True, eq=False)
class _Part:
    """The weights of some frames, or their logarithms."""

    values: np.ndarray
    logs: bool


def _checked_parts(
    name: str, given: Weights, lengths: np.ndarray, times: np.ndarray | None, temperature: float | None
) -> list[_Part]:
    """Return the weights of all frames, from one array or file or from one for each trajectory."""
    n = int(lengths.sum())
    if isinstance(given, str | os.PathLike):
        parts: list[Any] = [given]
    elif isinstance(given, list | tuple) and any(map(_is_several, given)):
        parts = list(given)
    else:
        values = _array(name, given)
        if values.shape != (n,):
            raise InputValueError(
                f"`{name}` must have one value per frame, shape ({n},), or be a list of one array per "
                f"trajectory; got shape {values.shape}."
            )
        return [_checked(name, values)]
    if len(parts) not in (1, len(lengths)):
        raise InputValueError(
            f"`{name}` must be one array or file for all frames, or one for each of the {len(lengths)} "
            f"trajectories; got {len(parts)}."
        )
    sizes = lengths if len(parts) == len(lengths) else np.array([n])
    found = []
    for number, (part, size, end) in enumerate(zip(parts, sizes, np.cumsum(sizes), strict=True)):
        if isinstance(part, str | os.PathLike):
            shown = None if times is None else times[end - size : end]
            found.append(_read(name, part, int(size), shown, temperature, several=len(sizes) < len(lengths)))
            continue
        values = _array(name, part)
        if values.shape != (size,):
            raise InputValueError(
                f"`{name}` must have one value per frame; got shape {values.shape} for trajectory {number}, "
                f"which has {size:,} frames."
            )
        found.append(_checked(name, values))
    return found


def _is_several(part: object) -> bool:
    return isinstance(part, str | os.PathLike) or np.ndim(cast("npt.ArrayLike", part)) > 0


def _array(name: str, given: object) -> np.ndarray:
    values = check_numbers(name, given)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _checked(name: str, values: np.ndarray) -> _Part:
    """Return values as weights, or as logarithms of weights."""
    logs = name == "log_weights"
    bad = np.flatnonzero(np.isnan(values) | np.isposinf(values))
    if len(bad):
        raise InputValueError(
            f"`{name}` must be finite; got {values[bad[0]]} for frame {bad[0]} ({len(bad)} such frames). "
            "Leave these frames out."
        )
    negative = np.flatnonzero(values < 0)
    if len(negative) and not logs:
        raise InputValueError(
            f"`weights` must be at least 0; got {values[negative[0]]:g} for frame {negative[0]} "
            f"({len(negative)} such frames). Pass logarithms of weights as `log_weights`."
        )
    return _Part(values, logs)


def _read(
    name: str,
    given: str | os.PathLike[str],
    n_frames: int,
    times: np.ndarray | None,
    temperature: float | None,
    *,
    several: bool,
) -> _Part:
    """Return the weights of frames from a file."""
    path, column = split_column(os.fspath(given))
    if path.endswith(".npy"):
        return _checked(name, _column_of_array(name, path, column, n_frames))
    colvar = read_colvar(path)
    if several and colvar.times is not None:
        raise InputValueError(
            f"`{name}` must be a list of one file per trajectory, because the rows of {path} have times; got "
            "one file for several trajectories."
        )
    column = _choose(name, colvar) if column is None else column
    rows = colvar.rows_at(times, n_frames)
    logger.info("weights: column %s of %s, %d frames in %d rows", column, path, n_frames, len(colvar))
    values = colvar[column][rows]
    if name == "log_weights" or _ends(column, _LOG):
        return _checked("log_weights", values)
    if not _ends(column, _BIAS):  # rbias has the same end
        return _checked("weights", values)
    if temperature is None:
        raise InputValueError(
            f"`temperature` must be given, because the column {column!r} of {path} holds a bias, in kJ/mol: "
            "its weights are exp(bias / kT)."
        )
    part = _checked("log_weights", values / (_GAS_CONSTANT * temperature))
    _check_drift(part.values, path, column)
    return part


def split_column(given: str) -> tuple[str, str | None]:
    """Return the path and the column of FILE[:COLUMN]; existing files with a colon in their name go first.

    Examples
    --------
    >>> split_column("COLVAR:metad.rbias"), split_column("run/COLVAR")
    (('COLVAR', 'metad.rbias'), ('run/COLVAR', None))
    """
    given = os.path.expanduser(given)
    path, colon, column = given.rpartition(":")
    if os.path.exists(given) or not colon or "/" in column or "\\" in column or not path:
        return given, None
    return path, column


def _column_of_array(name: str, path: str, column: str | None, n_frames: int) -> np.ndarray:
    try:
        values = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputValueError(f"{path} must be an array that NumPy saved; got {error}.") from error
    if column is not None:
        if values.ndim != 2 or not column.isdecimal() or not 1 <= int(column) <= values.shape[1]:
            raise InputValueError(
                f"The column must be a number from 1 to the number of columns of {path}; got {column!r} for "
                f"an array of shape {values.shape}."
            )
        values = values[:, int(column) - 1]
    values = _array(name, values)
    if values.shape != (n_frames,):
        raise InputValueError(
            f"{path} must have one value per frame, shape ({n_frames},); got shape {values.shape}."
        )
    return values


def _choose(name: str, colvar: Colvar) -> str:
    """Return the column that holds weights, identified by its name."""
    if len(colvar.names) == 1:
        return colvar.names[0]
    for ends in (_LOG, _REWEIGHTING, _WEIGHT, _BIAS):
        found = [each for each in colvar.names if _ends(each, ends)]
        if len(found) == 1 and name == "weights":
            return found[0]
        if found and name == "weights":
            break
    raise InputValueError(
        f"`{name}` must name the column of {colvar.path}, as in '{os.path.basename(colvar.path)}:COLUMN'; "
        f"its columns are {', '.join(colvar.names)}."
    )


def _ends(column: str, ends: Sequence[str]) -> bool:
    return column.lower().endswith(tuple(ends))


def _check_drift(logs: np.ndarray, path: str, column: str) -> None:
    """Raise if the mean of a bias, in kT, grows in time: an instantaneous bias gives no valid weights."""
    from scipy.stats import kendalltau

    if len(logs) < _MIN_DRIFT or not np.isfinite(logs).all():
        return
    means = np.array([block.mean() for block in np.array_split(logs, _DRIFT_BLOCKS)])
    change = float(means[-3:].mean() - means[:3].mean())
    order = float(kendalltau(np.arange(_DRIFT_BLOCKS), means)[0])
    if not (abs(order) >= _DRIFT_ORDER and abs(change) > _DRIFT_ENERGY):
        return
    if change > 0:
        raise InputValueError(
            f"The bias must not grow with time, or it is no weight; got a column {column!r} of {path} whose "
            f"mean grows by {change:.1f} kT. The bias of metadynamics grows while it is deposited: use the "
            "column 'rbias' (CALC_RCT of PLUMED), or compute the final bias of every frame (plumed driver)."
        )
    warn_user(
        f"The mean of the column {column!r} of {path} falls by {-change:.1f} kT in the course of the run: it "
        "begins before the bias has filled the minima. Leave the beginning out."
    )
