"""Numbers inside a page: JSON that is safe in HTML, with large arrays in a compact form."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

#: The byte that marks a missing state or share.
NOWHERE = 255


def pack(array: np.ndarray) -> dict[str, object]:
    """Return an array as its bytes, compressed and in base64; `unpack` in page.js reverses it.

    Examples
    --------
    >>> packed = pack(np.arange(6, dtype=np.uint8).reshape(2, 3))
    >>> packed["type"], packed["shape"]
    ('uint8', [2, 3])
    >>> list(zlib.decompress(base64.b64decode(packed["packed"])))
    [0, 1, 2, 3, 4, 5]
    """
    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    packed = base64.b64encode(zlib.compress(data.tobytes(), 9)).decode("ascii")
    return {"type": array.dtype.name, "shape": list(array.shape), "packed": packed}


def quantize(shares: np.ndarray) -> np.ndarray:
    """Return shares of [0, 1] in steps of 1/250 as uint8, and 255 for NaN.

    Examples
    --------
    >>> quantize(np.array([0.0, 0.5, 1.0, np.nan]))
    array([  0, 125, 250, 255], dtype=uint8)
    """
    return np.where(np.isnan(shares), NOWHERE, np.rint(250 * np.nan_to_num(shares))).astype(np.uint8)


def rounded(values: npt.ArrayLike, digits: int = 5) -> Any:
    """Return an array as nested lists of rounded numbers; None for NaN and infinity.

    Examples
    --------
    >>> rounded(np.array([[3.14159265, np.nan], [np.inf, 2.0]]), 3)
    [[3.14, None], [None, 2.0]]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim:
        return [rounded(part, digits) for part in array]
    return float(f"{array:.{digits}g}") if np.isfinite(array) else None


def to_json(value: object) -> str:
    """Return JSON that may stand inside a script element: without "<", which could end it.

    Examples
    --------
    >>> to_json({"name": "</script>"})
    '{"name":"\\\\u003c/script>"}'
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
