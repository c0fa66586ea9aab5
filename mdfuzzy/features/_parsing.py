"""Parse features written as text, such as ``"distances:name CA"``."""

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mdfuzzy._check import InputTypeError, InputValueError
from mdfuzzy._messages import counted
from mdfuzzy.features.columns import Given
from mdfuzzy.features.contacts import ClosestDistances, Contacts
from mdfuzzy.features.coordinates import Coordinates
from mdfuzzy.features.distances import Distances, GroupDistances
from mdfuzzy.features.feature import Feature
from mdfuzzy.features.functions import Function
from mdfuzzy.features.torsions import Torsions

#: The names of features in a text, with the arguments that follow the colon.
WORDS: dict[str, tuple[type[Feature] | type[Given], dict[str, Any], str]] = {
    "torsions": (Torsions, {}, "phi and psi [of the residues of a SELECTION]"),
    "sidechains": (Torsions, {"which": "sidechain"}, "chi1 to chi5 [of the residues of a SELECTION]"),
    "all-torsions": (Torsions, {"which": "all"}, "phi, psi, omega and chi [of the residues of a SELECTION]"),
    "distances": (Distances, {}, "of alpha carbons [of a SELECTION; between SELECTION | SELECTION]"),
    "groups": (GroupDistances, {}, "between centres of mass of SELECTION | SELECTION"),
    "closest": (ClosestDistances, {}, "closest heavy-atom distances of residues [SELECTION | SELECTION]"),
    "contacts": (Contacts, {}, "soft contacts of residues [SELECTION | SELECTION]"),
    "coordinates": (Coordinates, {}, "x, y, z after a fit [SELECTION | FITTED SELECTION]"),
    "columns": (Given, {}, "of FILE, one .npy or COLVAR for each trajectory [FILE:NAME,NAME]"),
}


def take_feature(wanted: object) -> Feature | Given:
    """Return the requested feature, given as a text, a feature, a function, an array or a path."""
    if isinstance(wanted, Feature | Given):
        return wanted
    if isinstance(wanted, str):
        return _parse(wanted)
    if isinstance(wanted, os.PathLike):
        return Given(data=os.fspath(wanted))
    if isinstance(wanted, np.ndarray):
        return Given(data=wanted)
    if callable(wanted):
        function: Callable[..., Any] = wanted
        return Function(function=function)
    raise InputTypeError(
        f"`features` must be texts such as 'torsions', features, functions or arrays; got "
        f"{type(wanted).__name__}."
    )


def _parse(text: str) -> Feature | Given:
    match = re.fullmatch(r"\s*(?:([^\s*:]+)\s*\*)?\s*([\w-]+)\s*(?::(.*))?", text, re.DOTALL)
    name = match.group(2) if match else ""
    if match is None or name not in WORDS:
        raise InputValueError(
            f"`features` must be one of {', '.join(WORDS)}, with a selection after a colon, such as "
            f"'distances:name CA'; got {text!r}."
        )
    kind, options, _ = WORDS[name]
    options = dict(options)
    if match.group(1):
        options["weight"] = _weight(match.group(1), text)
    rest = (match.group(3) or "").strip()
    if kind is Given:
        return Given(data=rest, **options)
    selections = [part.strip() for part in rest.split("|")] if rest else []
    options |= _selections(kind, name, selections, text)
    return kind(**options)


def _weight(word: str, text: str) -> float:
    try:
        found = float(word)
    except ValueError:
        found = 0.0
    if not 0 < found < np.inf:
        raise InputValueError(
            f"The weight before * in `features` must be a finite number > 0, as in '2 * torsions'; got "
            f"{text!r}. To leave a feature out, do not name it."
        )
    return found


def _selections(kind: type[Any], name: str, selections: Sequence[str], text: str) -> dict[str, Any]:
    """Return the arguments that the selections in a text stand for."""
    if not all(selections):
        raise InputValueError(f"`features` must have a selection on both sides of |; got {text!r}.")
    if kind is GroupDistances:
        return {"groups": tuple(selections)}
    names = ["selection", "fit" if kind is Coordinates else "other"][: 1 if kind is Torsions else 2]
    if len(selections) > len(names):
        most = counted(len(names), "selection")
        raise InputValueError(f"{name!r} in `features` takes {most} at most; got {text!r}.")
    return dict(zip(names, selections, strict=False))
