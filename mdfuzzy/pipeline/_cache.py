"""Steps, each declared once, and runs that compute them or load their saved results."""

import hashlib
import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, field, is_dataclass
from inspect import Parameter, signature
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import read_only
from mdfuzzy._messages import warn_user
from mdfuzzy.frames.mapping import LARGE, copy_in_parts, release, trim
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.neighbors.blocks import BlockStore
from mdfuzzy.pipeline._arrays import pack, unpack
from mdfuzzy.pipeline.settings import Settings

#: The revision of the steps. Increase it whenever a step gives a different result for the same input: saved
#: results are then computed again.
REVISION = 12
#: The array of a saved step that holds its warnings.
_WARNINGS = "warnings"
#: Fields of a clustering that are not results of steps.
_OF_THE_RUN = ("settings", "sample", "chosen", "warnings")
#: Parameters of steps that do not change the result, and so are not part of its key.
_MEANS = ("n_jobs", "progress", "blocks", "room", "client", "layout", "earlier", "check_frames")
#: The array that holds the revision, in a saved step that a later run can extend.
_GROWS = "revision"

logger = logging.getLogger("mdfuzzy")


@dataclass(frozen=True, eq=False)
class EarlierStep:
    """Hold the result of a step for the frames that existed before others were added.

    Attributes
    ----------
    result : object
        The result as the step returned it.
    frames : (m,) int64
        The frames of the data that the result describes.
    """

    result: Any
    frames: np.ndarray


class Store(Protocol):
    """Define the interface of a store for the results of steps, such as `RunDir`."""

    def lock(self) -> AbstractContextManager[None]:
        """Lock the store against other processes during a run."""

    def begin(self, data: Trajectories, settings: Settings) -> str:
        """Prepare for a run on `data` with `settings` and return a key of the data."""

    def get(self, name: str, *, key: str = "") -> dict[str, np.ndarray] | None:
        """Return the arrays saved under `name` with this `key`; None if there are none."""

    def put(self, name: str, *, key: str = "", growing: bool = False, **arrays: np.ndarray) -> None:
        """Save `arrays` under `name` with `key`, replacing older ones; if growing, also for `earlier`."""

    def earlier(self, name: str) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
        """Return the arrays saved under `name` for some of the frames, and these frames; None if none."""

    def scratch(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Return an array of zeros for data that are not saved, in a file if it is large."""

    def parts(self, name: str, *, key: str) -> BlockStore:
        """Return the block store of the unfinished step `name`; it is emptied when the step is saved."""


@dataclass
class Step:
    """Describe a step of a run: a function whose signature declares its dependencies.

    Attributes
    ----------
    function : callable
        Its positional parameters are the names of other steps, or of inputs of the run. Its keyword-only
        parameters are names of settings, or of `_MEANS`. Its return annotation is the type of the result.
    saved : bool
        Whether the result is saved. A number that is not saved is its own key: steps that use it depend only
        on its value.
    content : bool
        Whether the key of the result, an array, is a hash of its content. This is needed if the array holds
        information that the key of the data does not include.
    message : str
        The message logged when a possibly long step begins.
    when : callable
        Takes the settings and returns whether they request this step; otherwise its result is None.
    explain : callable or None
        Returns a sentence about an automatic choice, or None. Takes the result before the arguments of the
        function.
    """

    function: Callable[..., Any]
    saved: bool
    message: str
    when: Callable[[Settings], bool]
    explain: Callable[..., str | None] | None = None
    content: bool = False
    inputs: tuple[str, ...] = field(init=False)
    options: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        parameters = signature(self.function).parameters.values()
        self.inputs = tuple(each.name for each in parameters if each.kind is not Parameter.KEYWORD_ONLY)
        self.options = tuple(each.name for each in parameters if each.kind is Parameter.KEYWORD_ONLY)

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings that the result depends on."""
        return tuple(name for name in self.options if name not in _MEANS)

    @property
    def kind(self) -> Any:
        """The type of the result."""
        return signature(self.function).return_annotation

    def explained(self, explain: Callable[..., str | None]) -> Callable[..., str | None]:
        """Decorate the function that explains an automatic choice."""
        self.explain = explain
        return explain


#: All steps by name.
STEPS: dict[str, Step] = {}


def step(
    *,
    saved: bool = True,
    message: str = "",
    when: Callable[[Settings], bool] = lambda settings: True,
    content: bool = False,
) -> Callable[[Callable[..., Any]], Step]:
    """Declare a function as the step with the name of the function; see `Step`."""

    def declare(function: Callable[..., Any]) -> Step:
        STEPS[function.__name__] = Step(function, saved, message, when, content=content)
        return STEPS[function.__name__]

    return declare


def settings_of(*names: str) -> set[str]:
    """Return the settings that steps depend on, directly or through the steps before them.

    Examples
    --------
    >>> import mdfuzzy.pipeline._steps
    >>> sorted(settings_of("log_density"))
    ['bandwidth', 'density', 'dimension', 'k', 'kernel', 'recall']
    """
    found: set[str] = set()
    for each in (STEPS[name] for name in names if name in STEPS):
        found |= {*each.settings} | settings_of(*each.inputs)
    return found


class Run(Mapping[str, Any]):
    """Map the steps of one run to their results, each computed or loaded when first requested.

    The key of a saved result is a hash of the keys of the step's inputs and of the settings that it uses. A
    changed setting therefore changes only the keys of the results that depend on it.

    Parameters
    ----------
    settings : Settings
        All settings.
    inputs : mapping
        The inputs of the run by name: the data, neighbours, or both.
    store : Store, optional
        The store in which results are saved; by default no result is saved.
    key : str
        The key of the inputs in the store.
    means : mapping, optional
        Values of `_MEANS`; None by default.
    growing : bool
        Whether the data are all data of the store, so that a later run with more data can continue from the
        saved results.

    Attributes
    ----------
    chosen : dict of str to str
        A sentence for every automatic choice.
    warnings : list of str
        The warnings of all steps, including steps with loaded results.
    """

    def __init__(
        self,
        settings: Settings,
        inputs: Mapping[str, object],
        *,
        store: Store | None = None,
        key: str = "",
        means: Mapping[str, object] | None = None,
        growing: bool = True,
    ) -> None:
        self.settings = settings
        self.chosen: dict[str, str] = {}
        self.warnings: list[str] = []
        self._store = store
        self._growing = growing
        self._results: dict[str, Any] = dict(inputs)
        self._keys = dict.fromkeys(inputs, key)
        own = {
            "n_jobs": settings.n_jobs,
            "room": np.zeros if store is None else store.scratch,
        }
        self._means = {**dict.fromkeys(_MEANS), **own, **(means or {})}

    def __len__(self) -> int:
        return len({*self._results, *STEPS})

    def __iter__(self) -> Iterator[str]:
        return iter({*self._results, *STEPS})

    def __getitem__(self, name: str) -> Any:
        if name not in self._results:
            self._results[name] = self._make(name, STEPS[name])
        return self._results[name]

    def assemble(self, names: Sequence[str]) -> dict[str, Any]:
        """Return results by name, in this order, with the settings, the choices and the warnings."""
        results = {name: self[name] for name in names if name not in _OF_THE_RUN}
        return {
            "settings": self.settings,
            "chosen": self.chosen,
            "warnings": tuple(self.warnings),
            **results,
        }

    def key(self, *names: str) -> str:
        """Return a key of some results, which changes with any of them."""
        return _hash([self._keys[name] for name in names if name in self._keys])

    def _make(self, name: str, made: Step) -> Any:
        if not made.when(self.settings):
            self._keys[name] = "none"
            return None
        arguments = [self[each] for each in made.inputs]
        options = {each: getattr(self.settings, each) for each in made.settings}
        key = _hash([REVISION, name, {each: self._keys[each] for each in made.inputs}, options])
        result = self._load_or_compute(name, made, arguments, options, key)
        scalar = result is None or isinstance(result, int | float | str)
        self._keys[name] = repr(result) if scalar and not made.saved else key
        if made.content and result is not None:
            self._keys[name] = hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest()[:20]
        if made.explain is not None:
            sentence = made.explain(result, *arguments, **options)
            if sentence is not None:
                self.chosen[name] = sentence
        return result

    def _load_or_compute(
        self, name: str, made: Step, arguments: list[Any], options: dict[str, Any], key: str
    ) -> Any:
        store = self._store if made.saved else None
        saved = None if store is None else store.get(name, key=key)
        if saved is not None:
            messages = saved.pop(_WARNINGS).tolist()
            result = unpack(made.kind, saved)
        else:
            means = {each: self._means[each] for each in _MEANS if each in made.options}
            if store is not None:
                blocks = store.parts(name, key=key)  # a read-only store refuses
                means |= {"blocks": blocks} if "blocks" in means else {}
            growing = self._growing and "earlier" in means
            if store is not None and growing:
                means["earlier"] = _earlier(store.earlier(name), made)
            result, messages = _recorded(made, lambda: made.function(*arguments, **options, **means))
            if store is not None:
                told = {_WARNINGS: np.array(messages, dtype=np.str_)}
                told |= {_GROWS: np.array(REVISION)} if growing else {}
                store.put(name, key=key, growing=growing, **pack(result), **told)
                saved = store.get(name, key=key) if _is_large(result) else None
                if saved is not None:  # from now on its arrays take memory only while in use
                    result = None  # before the arrays in the files are read and checked
                    result = unpack(made.kind, saved)
            elif self._store is not None and _is_large(result):
                result = _in_scratch(result, self._store)
        release()
        trim()
        for message in messages:
            if message not in self.warnings:
                self.warnings.append(message)
                warn_user(message)
        return result


def _is_large(result: object) -> bool:
    """Return whether a result holds an array that belongs in a file."""
    if not is_dataclass(result):
        return False
    return any(each.nbytes >= LARGE for each in vars(result).values() if isinstance(each, np.ndarray))


def _in_scratch(result: Any, store: Store) -> Any:
    """Return a result with its large arrays in files that disappear with it."""
    moved = copy(result)
    for each, array in vars(result).items():
        if isinstance(array, np.ndarray) and array.nbytes >= LARGE:
            place = store.scratch(array.shape, array.dtype)
            copy_in_parts(array, place)
            object.__setattr__(moved, each, read_only(place))
    return moved


def _earlier(saved: tuple[dict[str, np.ndarray], np.ndarray] | None, made: Step) -> EarlierStep | None:
    """Return a result for some of the frames; None if another revision of the steps saved it."""
    if saved is None or saved[0].get(_GROWS) != REVISION:
        return None
    return EarlierStep(unpack(made.kind, saved[0]), saved[1])


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]


def _recorded(made: Step, compute: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return a result and the UserWarnings of its computation; other warnings are passed on."""
    if made.message:
        logger.info(made.message)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = compute()
    messages: dict[str, None] = {}  # each once, in the order of appearance
    for each in caught:
        if each.category is UserWarning:
            messages[str(each.message)] = None
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return result, list(messages)
