"""Data like those of molecules whose states are known, for the table of the automatic choice.

Each function returns the points, the frames per trajectory (None: independent) and the true state of every
point (-1: of no state that counts).
"""

from collections.abc import Callable

import numpy as np

Sample = tuple[np.ndarray, list[int] | None, np.ndarray]

#: Centres (degrees), standard deviations and weights of the regions of a residue.
_ALPHA, _PII, _BETA = (-68.0, -18.0), (-68.0, 147.0), (-138.0, 152.0)
_SPREAD = np.array([[15.0, 17.0], [15.0, 17.0], [17.0, 18.0]])
_WEIGHTS = np.array([0.42, 0.32, 0.26])


def residues(count: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw independent residues with three regions each, as cosines and sines of phi and psi."""
    labels = rng.choice(3, size=(n, count), p=_WEIGHTS)
    centres = np.array([_ALPHA, _PII, _BETA])
    angles = np.radians(centres[labels] + _SPREAD[labels] * rng.normal(size=(n, count, 2)))
    points = np.concatenate([np.cos(angles), np.sin(angles)], axis=-1).reshape(n, -1)
    return points, None, labels @ 3 ** np.arange(count)


def ladder(steps: int, d: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw a row of unit Gaussians whose gaps grow from 3.5 to 7 standard deviations."""
    gaps = np.linspace(3.5, 7.0, steps - 1)
    centres = np.zeros((steps, d))
    centres[1:, 0] = np.cumsum(gaps)
    labels = rng.integers(steps, size=n)
    return centres[labels] + rng.normal(size=(n, d)), None, labels


def harmonic(d: int, n: int, tau: float, rng: np.random.Generator) -> Sample:
    """Make one trajectory in a harmonic well, exactly, with a relaxation time of `tau` frames."""
    from scipy.signal import lfilter

    decay = np.exp(-1 / tau)
    noise = np.sqrt(1 - decay**2) * rng.normal(size=(n, d))
    noise[0] = rng.normal(size=d)
    return lfilter([1.0], [1.0, -decay], noise, axis=0), [n], np.zeros(n, int)


def wells(d: int, n: int, tau: float, rng: np.random.Generator, *, runs: int = 4) -> Sample:
    """Make trajectories over three wells, 6 kT deep, with harmonic directions that relax in `tau` frames.

    Overdamped Langevin dynamics in the first direction in -3 cos x on a ring of three periods; the others are
    exact.
    """
    steps = 20
    each = n // runs
    step = 1 / (3.0 * tau * steps)  # the curvature at the bottom is 3
    x = 2 * np.pi * (np.arange(runs) % 3) + rng.normal(size=runs) / np.sqrt(3.0)
    found = np.empty((each, runs))
    kicks = np.sqrt(2 * step)
    for at in range(each):
        for _ in range(steps):
            x = x - step * 3.0 * np.sin(x) + kicks * rng.normal(size=runs)
        found[at] = x
    line = found.T.ravel()
    rest = [harmonic(d - 1, each, tau, rng)[0] for _ in range(runs)]
    ring = 3 * np.sqrt(3.0) * np.column_stack([np.cos(line / 3), np.sin(line / 3)])
    points = np.column_stack([ring, np.concatenate(rest)]) if d > 1 else ring
    return points, [each] * runs, np.round(line / (2 * np.pi)).astype(int) % 3


def imbalanced(smallest: float, d: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw three unit Gaussians 7 apart; the last holds the share `smallest`."""
    count = round(smallest * n)
    labels = np.repeat([0, 1, 2], [n - n // 4 - count, n // 4, count])
    centres = np.zeros((3, d))
    centres[1, 0], centres[2, :2] = 7.0, (3.5, 7.0)
    return centres[labels] + rng.normal(size=(n, d)), None, labels


def duplicated(times: int, d: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw three unit Gaussians 6 apart, each point several times."""
    labels = rng.integers(3, size=n // times)
    points = rng.normal(size=(n // times, d))
    points[:, 0] += 6 * labels
    return np.repeat(points, times, axis=0), None, np.repeat(labels, times)


def rounded(step: float, modes: int, d: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw unit Gaussians 6 apart, rounded to multiples of `step`."""
    labels = rng.integers(modes, size=n)
    points = rng.normal(size=(n, d))
    points[:, 0] += 6 * labels
    return step * np.round(points / step), None, labels


def clipped(d: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw a Gaussian that is rounded to a tenth and clipped at 1.5."""
    return np.clip(rng.normal(size=(n, d)), -1.5, 1.5).round(1), None, np.zeros(n, int)


def cut(share: float, d: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw a Gaussian, a share of which is clipped at each end of every feature."""
    points = rng.normal(size=(n, d))
    return np.clip(points, *np.quantile(points, [share, 1 - share], axis=0)), None, np.zeros(n, int)


def clouds(shape: str, d: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw from a density of one mode; that of a cube, a ball and a ring is a plateau."""
    normal = rng.normal(size=(n, d))
    if shape == "cube":
        points = rng.random((n, d))
    elif shape == "ball":
        points = normal / np.linalg.norm(normal, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / d)
    elif shape == "Laplace":
        points = rng.laplace(size=(n, d))
    elif shape == "Student t, 3 degrees":
        points = normal / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)
    elif shape == "stretched Gaussian":
        points = normal * np.geomspace(10, 1, d)
    else:
        points = normal
    return points, None, np.zeros(n, int)


def mixture(modes: int, d: int, n: int, equal: bool, rng: np.random.Generator) -> Sample:
    """Draw unit Gaussians whose centres are at least max(6, 2 sqrt(d)) apart."""
    apart = max(6.0, 2 * np.sqrt(d))
    centres = [np.zeros(d)]
    while len(centres) < modes:
        step = rng.normal(size=d)
        step *= apart * (1 + 0.3 * rng.random()) / np.linalg.norm(step)
        centre = centres[rng.integers(len(centres))] + step
        if min(np.linalg.norm(centre - other) for other in centres) >= apart:
            centres.append(centre)
    weights = np.ones(modes) if equal else np.linspace(1, 3, modes)
    labels = rng.choice(modes, size=n, p=weights / weights.sum())
    return np.array(centres)[labels] + rng.normal(size=(n, d)), None, labels


#: Names of the rows: what is drawn, dimensions, points, states, and how.
Made = tuple[str, int, int, int, Callable[[np.random.Generator], Sample]]


def all_made() -> list[Made]:
    """Return every kind of data of the table."""
    made: list[Made] = []

    def add(name: str, d: int, n: int, states: int, draw: Callable[..., Sample], *arguments: object) -> None:
        made.append((name, d, n, states, lambda rng: draw(*arguments, rng)))

    for n in (500, 2_000, 20_000):
        for d in (1, 2, 5, 10, 20):
            add("Gaussian", d, n, 1, clouds, "Gaussian", d, n)
    for shape in ("cube", "ball", "Laplace", "Student t, 3 degrees", "stretched Gaussian"):
        for d in (1, 2, 5, 10):
            add(shape, d, 5_000, 1, clouds, shape, d, 5_000)
    for d in (2, 5, 10, 20):
        for modes in (2, 4, 8):
            add("mixture, equal weights", d, 5_000, modes, mixture, modes, d, 5_000, True)
            add("mixture, unequal weights", d, 5_000, modes, mixture, modes, d, 5_000, False)
    for count, n in ((2, 10_000), (2, 50_000), (3, 50_000), (4, 50_000)):
        add(f"{count} residues", 2 * count, n, 3**count, residues, count, n)
    for steps, d in ((4, 2), (8, 2), (8, 5)):
        add(f"ladder of {steps} states", d, 20_000, steps, ladder, steps, d, 20_000)
    for d in (1, 2, 5, 10):
        for tau in (3, 10, 100):
            add(f"harmonic well, relaxation in {tau} frames", d, 10_000, 1, harmonic, d, 10_000, tau)
    for d in (2, 5, 10):
        for tau in (3, 10, 100):
            name = f"three wells of 6 kT, relaxation in {tau} frames"
            add(name, d, 20_000, 3, wells, d, 20_000, tau)
    for n in (50_000, 200_000, 500_000):
        add("mixture, smallest state 0.04 %", 2, n, 3, imbalanced, 0.0004, 2, n)
    for d in (2, 5):
        for times in (2, 5, 10, 20, 50):
            add(f"mixture, each point {times} times", d, 5_000, 3, duplicated, times, d, 5_000)
    for step, dimensions in ((0.1, (1, 2)), (0.5, (2, 5)), (1.0, (5,))):
        for d in dimensions:
            add(f"Gaussian, rounded to {step:g}", d, 5_000, 1, rounded, step, 1, d, 5_000)
            add(f"mixture, rounded to {step:g}", d, 5_000, 3, rounded, step, 3, d, 5_000)
    for d in (2, 5):
        for share in (0.01, 0.05, 0.1, 0.2):
            add(f"Gaussian, {share:.0%} clipped at each end", d, 5_000, 1, cut, share, d, 5_000)
    add("Gaussian, rounded and clipped", 2, 5_000, 1, clipped, 2, 5_000)
    for n in (50, 100, 250):
        add("Gaussian, few frames", 2, n, 1, clouds, "Gaussian", 2, n)
        add("mixture, few frames", 2, n, 3, mixture, 3, 2, n, True)
    return made
