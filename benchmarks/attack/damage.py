"""Damage to bytes: what transfers, disks, other programs and editors do to files, drawn by a seed."""

import re

import numpy as np

#: Kinds that leave the length as it is.
IN_PLACE = ("flip", "zero", "noise", "swap", "number")
#: Kinds that do not.
RESIZING = ("cut", "cut end", "delete", "insert", "repeat", "append")
KINDS = IN_PLACE + RESIZING

_INTEGERS = (0, -1, 1, 2**31 - 1, -(2**31), 10**9, 65536, 255)
_FLOATS = (float("nan"), float("inf"), -1e30, 1e-30, 3.4e38)
_WORDS = (b"nan", b"inf", b"1e308", b"-", b"99999999999", b"", b"0", b"-1", b"1e-300", b"x", b"1.2.3")


def damage(data: bytes, kind: str, rng: np.random.Generator, *, text: bool = False) -> bytes:
    """Return damaged bytes.

    Examples
    --------
    >>> damage(bytes(8), "cut", np.random.default_rng(0))
    b'...'
    >>> len(damage(bytes(100), "flip", np.random.default_rng(0)))
    100
    """
    size = len(data)
    start = int(rng.integers(size))
    # Half of all damage is near the beginning, where headers are.
    if rng.random() < 0.3:
        start = int(rng.integers(min(size, 200)))
    length = int(min(size - start, rng.integers(1, 2 ** int(rng.integers(1, 9)))))
    out = bytearray(data)
    if kind == "flip":
        for _ in range(int(rng.integers(1, 4))):
            place = start if rng.random() < 0.5 else int(rng.integers(size))
            out[place] ^= 1 << int(rng.integers(8))
    elif kind == "zero":
        out[start : start + length] = bytes(length)
    elif kind == "noise":
        out[start : start + length] = rng.bytes(length)
    elif kind == "swap":
        other = int(rng.integers(max(1, size - length)))
        first, second = data[start : start + length], data[other : other + length]
        out[start : start + length], out[other : other + len(second)] = second[:length], first[: len(second)]
        out = out[:size]
    elif kind == "number":
        _change_number(out, start, rng, text)
    elif kind == "cut":
        del out[start:]
    elif kind == "cut end":
        del out[size - int(rng.integers(1, min(size, 60))) :]
    elif kind == "delete":
        del out[start : start + length]
    elif kind == "insert":
        out[start:start] = rng.bytes(length)
    elif kind == "repeat":
        out[start:start] = data[start : start + length]
    elif kind == "append":
        out += rng.bytes(length)
    return bytes(out)


def _change_number(out: bytearray, start: int, rng: np.random.Generator, text: bool) -> None:
    if text:
        tokens = [match.span() for match in re.finditer(rb"-?\d[\d.eE+-]*", bytes(out))]
        if tokens:
            first, last = tokens[int(rng.integers(len(tokens)))]
            out[first:last] = _WORDS[int(rng.integers(len(_WORDS)))]
        return
    place = start // 4 * 4
    order = "><"[int(rng.integers(2))]
    if rng.random() < 0.6:
        value = np.array(_INTEGERS[int(rng.integers(len(_INTEGERS)))], order + "i4")
    else:
        value = np.array(_FLOATS[int(rng.integers(len(_FLOATS)))], order + "f4")
    out[place : place + 4] = value.tobytes()[: len(out) - place]
