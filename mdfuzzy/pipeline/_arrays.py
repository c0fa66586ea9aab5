"""Conversion of results to named arrays and back, for a store. Pickle is not needed."""

from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

import numpy as np

#: Separator between the name of a field and the names of the fields inside it.
_INSIDE = "."


def pack(result: object) -> dict[str, np.ndarray]:
    """Return an array, a number, a text or a dataclass of such (tuples and None allowed) as named arrays.

    A tuple of arrays becomes two arrays: the concatenated values and the lengths.

    Examples
    --------
    >>> pack(2.5)
    {'value': array(2.5)}
    >>> from mdfuzzy.neighbors.graph import Graph
    >>> list(pack(Graph([0, 1, 2], [1, 0], [1.0, 1.0], kind="radius", n_targets=2, radius=1.0)))
    ['indptr', 'indices', 'distances', 'kind', 'n_targets', 'radius']
    """
    if result is None:
        return {}
    if not is_dataclass(result):
        return {"value": np.asarray(result)}
    arrays: dict[str, np.ndarray] = {}
    for field in fields(result):
        value = getattr(result, field.name)
        if value is None:
            continue
        if is_dataclass(value):
            arrays |= _prefixed(field.name, pack(value))
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            for place, item in enumerate(value):
                arrays |= _prefixed(f"{field.name}{_INSIDE}{place}", pack(item))
        elif isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
            ragged = {"values": np.concatenate(value), "lengths": np.array([len(each) for each in value])}
            arrays |= _prefixed(field.name, ragged)
        else:
            # An empty tuple would become an array of numbers.
            empty = isinstance(value, tuple) and not value
            arrays[field.name] = np.asarray(value, dtype=np.str_ if empty else None)
    return arrays


def unpack(kind: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return the result of type `kind` from the arrays that `pack` made."""
    if not arrays:
        return None
    kind = _without_none(kind)
    if not is_dataclass(kind):
        return arrays["value"] if kind is np.ndarray else kind(arrays["value"].item())
    values = {}
    for field in fields(kind):
        hint = _without_none(get_type_hints(kind)[field.name])
        inside = _within(field.name, arrays)
        if is_dataclass(hint):
            values[field.name] = unpack(hint, inside) if inside else None
        elif get_origin(hint) is tuple and is_dataclass(get_args(hint)[0]):
            places = sorted({int(name.split(_INSIDE)[0]) for name in inside})
            values[field.name] = tuple(
                unpack(get_args(hint)[0], _within(str(place), inside)) for place in places
            )
        elif get_origin(hint) is tuple and inside:
            values[field.name] = tuple(np.split(inside["values"], np.cumsum(inside["lengths"])[:-1]))
        elif field.name not in arrays:
            values[field.name] = None
        elif get_origin(hint) is tuple:
            values[field.name] = tuple(arrays[field.name].tolist())
        else:
            array = arrays[field.name]
            values[field.name] = array if hint is np.ndarray else array.item()
    return cast(Any, kind)(**values)


def _prefixed(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{prefix}{_INSIDE}{name}": array for name, array in arrays.items()}


def _within(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    start = prefix + _INSIDE
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _without_none(hint: Any) -> Any:
    """Return X for the type hint X | None."""
    if get_origin(hint) is UnionType:
        others = [each for each in get_args(hint) if each is not type(None)]
        return others[0] if len(others) == 1 else hint
    return hint
