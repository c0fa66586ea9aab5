"""Every choice that can be made about a clustering, once: its default, its limits and its help text."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import log
from textwrap import fill
from typing import Literal, get_args, get_origin, get_type_hints

from mdfuzzy._check import check_choice, check_int, check_real

#: k grows as this times log n; see `suggest_k`.
_K_PER_LOG = 3.5
#: The 2k neighbours of the density are at most this share of the points.
_LARGEST_SHARE = 0.2

_BETA_REMEDY = "2 is the ensemble's own diffusion, smaller is colder; 'entropy' or 'kinetic' choose."


def suggest_k(n: int) -> int:
    r"""Return the number of neighbours per point that the graph of n points gets by default.

    :math:`k = 3.5 \ln n`, rounded. The density is estimated from 2k neighbours, so the noise of its logarithm
    falls as :math:`1/\sqrt{2k}`, while the largest of its errors anywhere in n points grows as
    :math:`\sqrt{2 \ln n}`: a k in proportion to :math:`\ln n` keeps the largest error, and with it the
    smallest prominence that can be told from noise, the same for every n. It also keeps the graph
    connected inside a state. The factor is that of Bonis and Oudot: k = 50 for 1.4 million frames.

    2k is never more than a fifth of the points, because a state needs more than 2k points to be seen.

    Parameters
    ----------
    n : int
        The number of points, at least 3.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> [mf.suggest_k(n) for n in (3, 50, 1_000, 30_000, 1_420_738)]
    [1, 5, 24, 36, 50]
    """
    n = check_int("n", n, 3)
    return max(1, min(round(_K_PER_LOG * log(n)), int(_LARGEST_SHARE * n / 2)))


def _setting(default: object, help_text: str, check: Callable[[str, object], object]) -> object:
    """Declare a setting: its default, its help text, and what checks it, (name, value) -> value."""
    return field(default=default, metadata={"help": help_text, "check": check})


def _optional(check: Callable[[str, object], object]) -> Callable[[str, object], object]:
    return lambda name, value: None if value is None else check(name, value)


def _one_of(*choices: str) -> Callable[[str, object], str]:
    return lambda name, value: check_choice(name, value, choices)


def _positive(name: str, value: object) -> float:
    return check_real(name, value, above=0)


def _count(low: int) -> Callable[[str, object], int]:
    return lambda name, value: check_int(name, value, low)


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` must be True or False; got {value!r}.")
    return value


def _beta(name: str, value: object) -> float | str:
    if isinstance(value, str):
        return check_choice(name, value, BETA_CRITERIA, remedy="Or give a number > 0.")
    return check_real(name, value, above=0, finite=False, remedy=_BETA_REMEDY)


def _jobs(name: str, value: object) -> int | None:
    return value if value in (None, -1) else check_int(name, value, 1, remedy="None or -1 uses every core.")


#: What can choose beta.
BETA_CRITERIA = ("entropy", "kinetic")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that can be chosen about a clustering. None means: chosen from the data.

    Each field carries its help text in its metadata under ``"help"``.

    Attributes
    ----------
    k : int or None
        Neighbours per frame in the graph; by default `suggest_k`. The density uses twice as many.
    recall : float
        Share of the true neighbours that the search must find; 1 is exact. For RMSD only.
    density : {"dtm", "kde"}
        How the density is estimated: `dtm_log_density` or `kde_log_density`.
    dimension : float or None
        Intrinsic dimension, the exponent of the density; by default estimated by `intrinsic_dimension`.
    bandwidth : float or None
        Width of the kernels, in the unit of the distances (nm for RMSD), for ``density="kde"`` and
        ``kernel="gaussian"``; by default that of the largest likelihood, `kde_bandwidth`.
    prominence : float or None
        Smallest prominence of a state, in units of the log density; by default that which noise does not
        reach, `Persistence.prominence_gap`.
    level : float
        Probability that noise is called a state anywhere in the data, for the automatic prominence.
    core_rule : {"prominence", "point", "saddle", "share"}
        How far down from its peak a core reaches; see `find_cores`.
    core_share : float
        Share of its basin that a core holds, for ``core_rule="share"``.
    core_least : float
        Smallest share of its basin that a core holds, for ``core_rule="prominence"`` and ``"saddle"``.
    graph : {"union", "directed"}
        The edges that the walk uses.
    kernel : {"uniform", "gaussian"}
        How the weight of a step depends on its length.
    walk_weights : {"power", "linear"}
        How the weight of a step depends on the density; see `solve_memberships`.
    unit_density : bool
        Scale the density to a largest value of 1, for ``walk_weights="linear"``: these are then positive at
        every finite beta.
    beta : float, "entropy" or "kinetic"
        Temperature of the walk: 2 is the ensemble's own diffusion, smaller is colder, infinity has no pull.
        "entropy" takes the beta at which the entropy of the memberships falls most steeply, `scan_beta`;
        "kinetic" the one whose memberships predict best which state the trajectories reach next,
        `kinetics.kinetic_criterion`.
    scan_beta : bool
        Solve over a range of beta also if beta is a number.
    scan_k : bool
        Also count the states for other k, `states_by_k`.
    bootstrap : int
        How many times to draw whole trajectories anew to see how firmly each state stands,
        `bootstrap_states`; 0 for not at all.
    seed : int
        Of the random numbers that draw them.
    n_jobs : int or None
        Threads; None or -1 uses every core. The result does not depend on it.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> settings = mf.Settings(k=20, beta="entropy")
    >>> settings.n_neighbors(1000)
    40
    >>> mf.Settings(beta=-1)
    Traceback (most recent call last):
    ValueError: `beta` must be a number > 0; got -1.0. 2 is the ensemble's own diffusion, ...
    """

    k: int | None = _setting(
        None,
        "Neighbours per frame in the graph; the density uses twice as many. Default: 3.5 times the logarithm "
        "of the number of frames.",
        _optional(_count(1)),
    )
    recall: float = _setting(
        1.0,
        "Share of the true neighbours that the search must find; 1 is exact.",
        lambda name, value: check_real(name, value, above=0, at_most=1),
    )
    density: Literal["dtm", "kde"] = _setting(
        "dtm", "Density estimate: distance to measure, or kernels of one width.", _one_of("dtm", "kde")
    )
    dimension: float | None = _setting(
        None, "Intrinsic dimension, the exponent of the density. Default: estimated.", _optional(_positive)
    )
    bandwidth: float | None = _setting(
        None,
        "Width of the kernels of density 'kde' and kernel 'gaussian', in the unit of the distances. "
        "Default: that of the largest likelihood.",
        _optional(_positive),
    )
    prominence: float | None = _setting(
        None,
        "Smallest prominence of a state, in units of the log density. Default: what noise does not reach.",
        _optional(_positive),
    )
    level: float = _setting(
        0.01,
        "Probability that the automatic prominence calls noise a state.",
        lambda name, value: check_real(name, value, above=0, at_most=0.5),
    )
    core_rule: Literal["prominence", "point", "saddle", "share"] = _setting(
        "prominence",
        "How far down from its peak a core reaches: half the prominence threshold, the peak alone, half the "
        "depth to the saddle, or a share of the basin.",
        _one_of("prominence", "point", "saddle", "share"),
    )
    core_share: float = _setting(
        0.1,
        "Share of its basin that a core holds, for core rule 'share'.",
        lambda name, value: check_real(name, value, above=0, at_most=1),
    )
    core_least: float = _setting(
        0.0005,
        "Smallest share of its basin that a core holds, for core rules 'prominence' and 'saddle'; 0: any.",
        lambda name, value: check_real(name, value, at_least=0, at_most=1),
    )
    graph: Literal["union", "directed"] = _setting(
        "union",
        "Edges of the walk: between frames of which either has the other among its k nearest, or from each "
        "frame to its k nearest only.",
        _one_of("union", "directed"),
    )
    kernel: Literal["uniform", "gaussian"] = _setting(
        "uniform", "Weight of a step by its length.", _one_of("uniform", "gaussian")
    )
    walk_weights: Literal["power", "linear"] = _setting(
        "power", "Weight of a step by the density: a power of it, or as printed.", _one_of("power", "linear")
    )
    unit_density: bool = _setting(
        False, "Scale the density to a largest value of 1, for walk weights 'linear'.", _flag
    )
    beta: float | str = _setting(
        2.0,
        "Temperature of the walk; large is hot: 2 is the ensemble's own diffusion, 0.2 is ten times colder "
        "and gives nearly hard states. 'entropy' takes the beta at which the entropy of the memberships "
        "changes most, 'kinetic' the one whose memberships predict best which state the trajectories reach "
        "next.",
        _beta,
    )
    scan_beta: bool = _setting(False, "Also solve over a range of beta if beta is a number.", _flag)
    scan_k: bool = _setting(False, "Also count the states for other k.", _flag)
    bootstrap: int = _setting(
        0,
        "How many times to draw whole trajectories anew to see how firmly each state stands.",
        _count(0),
    )
    seed: int = _setting(0, "Seed of the random numbers that draw them.", _count(0))
    n_jobs: int | None = _setting(
        None, "Threads. Default: every core. The result does not depend on it.", _jobs
    )

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, each.metadata["check"](each.name, getattr(self, each.name)))

    def resolve_k(self, n: int, *, n_neighbors: int | None = None) -> int:
        """Return k for `n` points, of each of which `n_neighbors` neighbours are known (None: not yet any).

        The k that was given is checked; otherwise it is `suggest_k`, or less if too few neighbours are known.

        Examples
        --------
        >>> import mdfuzzy as mf
        >>> mf.Settings(k=500).resolve_k(800)
        Traceback (most recent call last):
        ValueError: `k` must be an int in [1, 399]; got 500. The density uses 2k neighbours, and there ...
        """
        known = n - 1 if n_neighbors is None else n_neighbors
        remedy = f"The density uses 2k neighbours, and there are {known}."
        if self.k is not None:
            return check_int("k", self.k, 1, known // 2, remedy=remedy)
        check_int("n_neighbors", known, 2, remedy="The density uses 2k neighbours.")
        return min(suggest_k(n), known // 2)

    def n_neighbors(self, n: int) -> int:
        """Return how many neighbours each of `n` points needs: 2k."""
        return 2 * self.resolve_k(n)

    def as_dict(self) -> dict[str, object]:
        """Return all settings by name."""
        return asdict(self)


def describe_settings(names: Sequence[str], *, indent: str = "    ") -> str:
    """Return the settings of these names as entries of a numpydoc section, from their types and help texts.

    Examples
    --------
    >>> print(describe_settings(["dimension", "density"], indent=""))
    dimension : float, optional
        Intrinsic dimension, the exponent of the density. Default: estimated.
    density : {"dtm", "kde"}
        Density estimate: distance to measure, or kernels of one width.
    """
    found, hints = {each.name: each for each in fields(Settings)}, get_type_hints(Settings)
    entries = []
    for name in names:
        text = fill(
            found[name].metadata["help"],
            width=108,
            initial_indent=indent + "    ",
            subsequent_indent=indent + "    ",
        )
        entries.append(f"{indent}{name} : {_kind(hints[name], found[name].default)}\n{text}")
    return "\n".join(entries)


def _kind(hint: object, default: object) -> str:
    """Return the type of a setting in the words of a docstring."""
    if get_origin(hint) is Literal:
        return "{" + ", ".join(f'"{choice}"' for choice in get_args(hint)) + "}"
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    words = [f'"{word}"' for word in BETA_CRITERIA] if str in kinds else []
    words = [kind.__name__ for kind in kinds if kind is not str] + words
    return " or ".join(words) + (", optional" if default is None else "")
