"""All settings of a clustering, each declared once with its default, limits and help text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import ceil, log
from textwrap import fill
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mdfuzzy._check import InputTypeError, InputValueError, check_choice, check_int, check_real
from mdfuzzy._choices import BetaCriterion, CoreRule, Density, Kernel, WalkGraph, WalkWeights

#: k grows as this times log n; see `suggest_k`.
_K_PER_LOG = 3.5
#: A sample holds at least this many neighbourhoods of 2k frames: fewer cannot determine the number of states.
_FEWEST = 10
#: The 2k neighbours of the density are at most this fraction of the points.
_LARGEST_SHARE = 0.2
#: With this times log n neighbours or more, at most 1 in 100 graphs of one state falls apart (on a line; with
#: fewer in more dimensions).
_CONNECTED_PER_LOG = 2.2
#: Copies do not raise k above this number: then a sample of the frames, which has fewer copies, takes less
#: time and memory than more neighbours.
_MOST_COPIES = 1000

_BETA_REMEDY = "2 is the temperature of the simulation; 'entropy' or 'kinetic' chooses one."


def suggest_k(n: int, *, n_different: int | None = None) -> int:
    r"""Return the default number of neighbours per point in the graph of n points.

    :math:`k = 3.5 \ln n`, rounded. The density is estimated from 2k neighbours, so the noise of its logarithm
    falls as :math:`1/\sqrt{2k}`, while the largest of its errors anywhere in n points grows as :math:`\sqrt{2
    \ln n}`: a k proportional to :math:`\ln n` makes the largest error the same for every n, and with it the
    smallest prominence that can be distinguished from noise. It also keeps the graph connected inside a
    state. The factor follows Bonis and Oudot: k = 50 for 1.4 million frames.

    2k is at most a fifth of the points, because a state needs more than 2k points to be detected. But k is at
    least :math:`2.2 \ln n`: with fewer neighbours the graph of a single state becomes disconnected by chance.

    Parameters
    ----------
    n : int
        The number of points, at least 3.
    n_different : int, optional
        The number of different points, if some are exact copies of others; n by default. Copies of a point
        tell nothing about its surroundings. So k is the number of neighbours for so many points, times the
        mean number of copies; but copies alone do not raise k above 1,000.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> [mf.suggest_k(n) for n in (3, 50, 1_000, 30_000, 1_420_738)]
    [1, 9, 24, 36, 50]
    >>> mf.suggest_k(10_000, n_different=1_000)
    240
    """
    n = check_int("n", n, 3)
    different = n if n_different is None else check_int("n_different", n_different, 1, n)
    several = round(n / different * _default_k(max(different, 3)))
    return max(_default_k(n), min(several, _MOST_COPIES, (n - 1) // 2))


def _default_k(n: int) -> int:
    """Return the default number of neighbours in the graph of n different points."""
    connected = min(ceil(_CONNECTED_PER_LOG * log(n)), (n - 1) // 2)
    return max(1, connected, min(round(_K_PER_LOG * log(n)), int(_LARGEST_SHARE * n / 2)))


def _setting(
    default: Any, help_text: str, check: Callable[[str, Any], Any] | None = None, *, expert: bool = False
) -> Any:
    """Declare a setting for the check, the command line, the estimator and the documentation.

    Parameters
    ----------
    default : object
        The default value.
    help_text : str
        One or two sentences, for the command line and the documentation.
    check : callable, optional
        Takes (name, value) and returns the value, or raises. By default the type decides: one of the choices
        of a Literal, or a flag.
    expert : bool
        Whether only few users need the setting.
    """
    return field(default=default, metadata={"help": help_text, "check": check, "expert": expert})


def _positive(name: str, value: Any) -> float:
    return check_real(name, value, above=0)


def _share(name: str, value: Any) -> float:
    return check_real(name, value, above=0, at_most=1)


def _count(low: int) -> Callable[[str, Any], int]:
    return lambda name, value: check_int(name, value, low)


def _beta(name: str, value: Any) -> float | str:
    if isinstance(value, str):
        return check_choice(name, value, get_args(BetaCriterion), remedy="Or give a number > 0.")
    return check_real(name, value, above=0, finite=False, remedy=_BETA_REMEDY)


def _jobs(name: str, value: Any) -> int | None:
    return value if value in (None, -1) else check_int(name, value, 1, remedy="None or -1 uses all cores.")


def _check_by_type(name: str, value: Any, hint: Any) -> Any:
    """Check a setting by its type alone: a choice, or a flag."""
    if get_origin(hint) is Literal:
        return check_choice(name, value, get_args(hint))
    if not isinstance(value, bool):
        raise InputTypeError(f"`{name}` must be True or False; got {value!r}.")
    return value


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Hold all settings of a clustering; a setting that is None is chosen from the data.

    Parameters
    ----------
    {settings}

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> settings = mf.Settings(k=20, beta="entropy")
    >>> settings.n_neighbors(1000)
    40
    >>> mf.Settings(beta=-1)
    Traceback (most recent call last):
    mdfuzzy.InputValueError: `beta` must be a number > 0; got -1.0. 2 is the temperature of the ...
    """

    fit_frames: int | None = _setting(
        None,
        "Find the states on this number of frames, evenly spaced over all trajectories. The other frames get "
        "their memberships from their nearest neighbours among these. Default: all frames, or as many as fit "
        "into memory.",
        _count(3),
    )
    k: int | None = _setting(
        None,
        "Neighbours per frame in the graph; the density estimate uses 2k. Default: 3.5 times the natural "
        "logarithm of the number of frames; more if there are duplicate frames.",
        _count(1),
    )
    recall: float = _setting(
        1.0, "Fraction of the true neighbours that the search must find; 1 is exact.", _share
    )
    density: Density = _setting(
        "dtm", "Density estimate: distance to measure (dtm), or Gaussian kernels of one bandwidth (kde)."
    )
    dimension: float | None = _setting(
        None,
        "Intrinsic dimension of the data, the exponent in the density estimate. Default: estimated.",
        _positive,
        expert=True,
    )
    bandwidth: float | None = _setting(
        None,
        "Bandwidth of the kernels if density is 'kde' or kernel is 'gaussian', in the unit of the distances "
        "(nm for RMSD). Default: chosen by maximum likelihood.",
        _positive,
        expert=True,
    )
    prominence: float | None = _setting(
        None,
        "Prominence threshold: the smallest prominence of a state, in units of the log density. Default: "
        "just above the prominences that noise produces.",
        _positive,
    )
    n_states: int | None = _setting(
        None,
        "Number of states: this many peaks, those that stand out most clearly from noise. Replaces the "
        "prominence threshold. Default: all peaks that noise does not explain.",
        _count(1),
    )
    level: float = _setting(
        0.01,
        "Significance level of the automatic number of states: the largest accepted probability that any of "
        "the states is due to noise.",
        lambda name, value: check_real(name, value, above=0, at_most=0.5),
        expert=True,
    )
    core_rule: CoreRule = _setting(
        "reach",
        "Extent of a core around its peak. reach: large enough that most frames of the basin have their "
        "largest membership in its state; prominence: down to half the prominence threshold below the peak, "
        "in units of the log density; point: the peak alone; saddle: half-way down to the saddle; share: a "
        "fraction of the basin.",
        expert=True,
    )
    core_agreement: float = _setting(
        0.9,
        "For core rule 'reach': the smallest accepted fraction of frames in each basin whose largest "
        "membership is in the state of this basin.",
        lambda name, value: check_real(name, value, above=0, at_most=0.999),
        expert=True,
    )
    core_share: float = _setting(
        0.1,
        "For core rule 'share': the fraction of the frames of a basin that form its core.",
        _share,
        expert=True,
    )
    core_least: float = _setting(
        0.0002,
        "For core rules 'reach', 'prominence' and 'saddle': the minimum size of a core, as a fraction of the "
        "frames of its basin; 0 sets no limit.",
        lambda name, value: check_real(name, value, at_least=0, at_most=1),
        expert=True,
    )
    walk_graph: WalkGraph = _setting(
        "union",
        "Edges of the random walk. union: between two frames if either is among the k nearest neighbours of "
        "the other; directed: from each frame to its k nearest neighbours only.",
        expert=True,
    )
    kernel: Kernel = _setting(
        "uniform",
        "How the weight of a step of the random walk depends on its length: not at all (uniform), or as a "
        "Gaussian.",
        expert=True,
    )
    walk_weights: WalkWeights = _setting(
        "power",
        "How the weight of a step of the random walk depends on the density: as a power of the density, or "
        "linearly, as printed by Bonis and Oudot.",
        expert=True,
    )
    unit_density: bool = _setting(
        False,
        "Scale the density so that its maximum is 1. Walk weights 'linear' are then positive at every finite "
        "beta.",
        expert=True,
    )
    beta: float | BetaCriterion = _setting(
        2.0,
        "Walk temperature; large values are hot (the opposite of 1/kT). 2 is the temperature of the "
        "simulation; 0.2 is ten times colder and gives nearly hard states. 'entropy' takes the beta at which "
        "the entropy of the memberships changes most; 'kinetic' takes the one whose memberships best predict "
        "which state the trajectories reach next.",
        _beta,
    )
    scan_beta: bool = _setting(
        False,
        "Also compute the memberships for a range of beta. The criteria 'entropy' and 'kinetic' always do.",
    )
    scan_k: bool = _setting(False, "Also count the states for other values of k.")
    validate: bool = _setting(False, "Also test Markov models of the states and choose a lag time.")
    bootstrap: int = _setting(
        0,
        "Number of bootstrap samples for the support of the states, which is the fraction of samples in "
        "which a state is found again. Intervals of populations use a separate bootstrap.",
        _count(0),
    )
    seed: int = _setting(0, "Random seed of the bootstrap.", _count(0))
    n_jobs: int | None = _setting(
        None, "Number of threads. Default: all cores. The results do not depend on it.", _jobs
    )

    def __post_init__(self) -> None:
        hints = get_type_hints(Settings)
        for each in fields(self):
            value, check = getattr(self, each.name), each.metadata["check"]
            if check is None:
                value = _check_by_type(each.name, value, hints[each.name])
            elif value is not None or each.default is not None:
                value = check(each.name, value)
            object.__setattr__(self, each.name, value)
        if self.n_states is not None and self.prominence is not None:
            raise InputValueError(
                f"`n_states` must not be given together with `prominence`; got {self.n_states} and "
                f"{self.prominence:g}. Leave one of them out."
            )

    def n_neighbors(self, n: int, *, n_different: int | None = None) -> int:
        """Return the number of neighbours of each of `n` points, of which `n_different` are different: 2k."""
        return 2 * resolve_k(self.k, n, n_different=n_different)

    def as_dict(self) -> dict[str, Any]:
        """Return all settings by name."""
        return asdict(self)


def resolve_k(
    k: int | None, n: int, *, n_neighbors: int | None = None, n_different: int | None = None
) -> int:
    """Return k for `n` points with `n_neighbors` known neighbours each (None: all others are known).

    A given k is checked. Otherwise k is `suggest_k`, or less if too few neighbours are known.

    Examples
    --------
    >>> resolve_k(500, 800)
    Traceback (most recent call last):
    mdfuzzy.InputValueError: `k` must be an int in [1, 399]; got 500. The density uses 2k ...
    """
    known = n - 1 if n_neighbors is None else n_neighbors
    remedy = f"The density uses 2k neighbours, and there are {known}."
    if k is not None:
        return check_int("k", k, 1, known // 2, remedy=remedy)
    check_int("n_neighbors", known, 2, remedy="The density uses 2k neighbours.")
    return min(suggest_k(n, n_different=n_different), known // 2)


def check_fit_frames(fit_frames: int, k: int | None) -> int:
    """Return the size of a sample, or raise if it is too small to show the states."""
    least = 2 * _FEWEST * resolve_k(k, max(fit_frames, 3))
    if fit_frames < least:
        raise InputValueError(
            f"`fit_frames` must be at least {least:,}, {_FEWEST} times the 2k neighbours of the density; got "
            f"{fit_frames:,}. States are not seen in fewer frames: give more, or a smaller `k`."
        )
    return fit_frames


def describe_settings(names: Sequence[str] | None = None, *, indent: str = "    ") -> str:
    """Return settings (all by default) as entries of a numpydoc section, from their types and help texts.

    Examples
    --------
    >>> print(describe_settings(["dimension", "density"], indent=""))
    dimension : float, optional
        Intrinsic dimension of the data, the exponent in the density estimate. Default: estimated.
    density : {"dtm", "kde"}
        Density estimate: distance to measure (dtm), or Gaussian kernels of one bandwidth (kde).
    """
    found, hints = {each.name: each for each in fields(Settings)}, get_type_hints(Settings)
    entries = []
    for name in found if names is None else names:
        text = fill(
            found[name].metadata["help"],
            width=108,
            initial_indent=indent + "    ",
            subsequent_indent=indent + "    ",
        )
        entries.append(f"{indent}{name} : {_kind(hints[name], found[name].default)}\n{text}")
    return "\n".join(entries)


def _kind(hint: Any, default: Any) -> str:
    """Return the type of a setting in the words of a docstring."""
    choices = [each for each in get_args(hint) if get_origin(each) is Literal]
    if get_origin(hint) is Literal:
        return "{" + ", ".join(f'"{choice}"' for choice in get_args(hint)) + "}"
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None) and kind not in choices]
    words = [kind.__name__ for kind in kinds] + [f'"{word}"' for each in choices for word in get_args(each)]
    return " or ".join(words) + (", optional" if default is None else "")


Settings.__doc__ = (Settings.__doc__ or "").replace("    {settings}", describe_settings())
