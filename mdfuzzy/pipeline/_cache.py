"""The steps of one run: which results are already there, what was chosen, and what was warned of."""

import hashlib
import json
import logging
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

import numpy as np

from mdfuzzy._warn import warn_user
from mdfuzzy.frames.features import Features
from mdfuzzy.frames.frames import Frames
from mdfuzzy.pipeline._arrays import pack, unpack
from mdfuzzy.pipeline.settings import Settings

Result = TypeVar("Result")

#: Raised whenever a step gives another result for the same input: saved results are then computed anew.
REVISION = 6
#: Among the arrays of a saved step, what it warned of.
_WARNINGS = "warnings"
#: What is said when a step begins that may take long.
_LONG = {
    "neighbors": "searching for the nearest neighbours of every frame",
    "persistence": "finding the peaks of the density",
    "beta_scan": "solving for memberships over a range of beta",
    "memberships": "solving for memberships",
    "k_scan": "counting states for other k",
    "bootstrap": "drawing trajectories anew",
}

logger = logging.getLogger("mdfuzzy")


class Parts(Protocol):
    """Where a step keeps what it has finished of its work."""

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """Return the arrays that were put there under `name`; None if there are none."""

    def put(self, name: str, **arrays: np.ndarray) -> None:
        """Keep `arrays` under `name`."""


class Store(Protocol):
    """Where the results of steps are kept. `RunDir` is one."""

    def lock(self) -> AbstractContextManager[None]:
        """Keep others out while a run is going on."""

    def begin(self, data: Frames | Features, settings: Settings) -> str:
        """Prepare for a run on `data` with `settings` and return a key of the data."""

    def get(self, name: str, *, key: str = "") -> dict[str, np.ndarray] | None:
        """Return the arrays that were put there under `name` with this `key`; None if there are none."""

    def put(self, name: str, *, key: str = "", **arrays: np.ndarray) -> None:
        """Keep `arrays` under `name` with `key`, instead of what is there."""

    def parts(self, name: str, *, key: str) -> Parts:
        """Return where the unfinished step `name` keeps its parts; emptied when the step is put."""


class Steps:
    """Runs steps, or loads their results if the store has them for the same input and settings.

    The key of a step's result is a hash of its name, of the keys of the steps that it needs and of the
    settings that it uses: so a changed setting changes the keys of what depends on it, and of nothing else.

    Parameters
    ----------
    store : Store, optional
        Where results are kept; by default none are.
    data : str
        The key of the data in it.

    Attributes
    ----------
    chosen : dict of str to str
        A sentence for everything that was chosen automatically.
    warnings : list of str
        What the steps warned of, also when their results were loaded.
    """

    def __init__(self, store: Store | None = None, data: str = "") -> None:
        self._store = store
        self._keys = {"data": data}
        self.chosen: dict[str, str] = {}
        self.warnings: list[str] = []

    def run(
        self,
        name: str,
        kind: type[Result],
        compute: Callable[[Parts | None], Result],
        *,
        needs: Sequence[str],
        used: dict[str, object] | None = None,
    ) -> Result:
        """Return the result of a step, computed or loaded.

        Parameters
        ----------
        name : str
            Its name in the store.
        kind : type
            The type of its result.
        compute : callable
            Makes the result; is given where to keep parts of its work (None without a store).
        needs : sequence of str
            The steps whose results it uses, and ``"data"`` if it uses that.
        used : dict, optional
            The settings that it uses.
        """
        if self._store is None:
            result, messages = _recorded(name, lambda: compute(None))
        else:
            result, messages = self._load_or_compute(name, kind, compute, needs, used or {})
        for message in messages:
            if message not in self.warnings:
                self.warnings.append(message)
                warn_user(message)
        return result

    def _load_or_compute(
        self, name: str, kind: type[Result], compute: Callable, needs: Sequence[str], used: dict
    ) -> tuple[Result, list[str]]:
        text = json.dumps([REVISION, name, [self._keys[each] for each in needs], used], sort_keys=True)
        key = self._keys[name] = hashlib.sha256(text.encode()).hexdigest()[:20]
        saved = self._store.get(name, key=key)
        if saved is not None:
            messages = saved.pop(_WARNINGS).tolist()
            return unpack(kind, saved), messages
        parts = self._store.parts(name, key=key)
        result, messages = _recorded(name, lambda: compute(parts))
        told = {_WARNINGS: np.array(messages, dtype=np.str_)}
        self._store.put(name, key=key, **pack(result), **told)
        return result, messages

    def choose(self, name: str, sentence: str) -> None:
        """Note what was chosen for the setting `name`, and why."""
        self.chosen[name] = sentence


def _recorded(name: str, compute: Callable[[], Result]) -> tuple[Result, list[str]]:
    """Return a result and the UserWarnings on the way to it; other warnings go where they always go."""
    if name in _LONG:
        logger.info(_LONG[name])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = compute()
    messages = {}  # each once, in the order in which they came
    for each in caught:
        if each.category is UserWarning:
            messages[str(each.message)] = None
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return result, list(messages)
