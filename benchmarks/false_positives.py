"""How often the test of ensembles rejects two single trajectories that do not differ, by length of blocks.

    python benchmarks/false_positives.py

Two-state trajectories with a known correlation time, so many inefficiencies long; 300 pairs of each kind.
A test at 5 % should reject 5 % of the pairs.
"""

import numpy as np

from mdfuzzy.ensembles import _parts
from mdfuzzy.ensembles._permutation import permutation_test

FRAMES, PAIRS = 6000, 300


def two_states(rng: np.random.Generator, correlation: float, share: float) -> np.ndarray:
    """Return a trajectory whose autocorrelation falls as exp(-t / correlation)."""
    drawn = rng.random(FRAMES) < share
    changes = rng.random(FRAMES) < 1 - np.exp(-1 / correlation)
    last = np.maximum.accumulate(np.where(changes, np.arange(FRAMES), 0))
    return drawn[last].astype(float)


def parts(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    units = _parts.independent_parts(np.array([FRAMES]), states[:, None], np.ones(FRAMES))
    return np.add.reduceat(states, units.starts)[:, None], units.lengths.astype(float)


def main() -> None:
    rng = np.random.default_rng(1)
    print("share, length in inefficiencies, blocks at least (inefficiencies), blocks, rejected")
    for share in (0.5, 0.1):
        for length in (20, 60, 200, 1000):
            for least in (0.0, 5.0, 10.0):
                _parts._LONG = least
                rejected, counts = 0, []
                for seed in range(PAIRS):
                    pair = [parts(two_states(rng, FRAMES / length / 2, share)) for _ in range(2)]
                    sums, totals = (np.concatenate(each) for each in zip(*pair, strict=True))
                    first = len(pair[0][1])
                    counts.append(first)
                    if min(first, len(totals) - first) > 1:
                        found = permutation_test(sums, totals, first, n_permutations=499, seed=seed)
                        rejected += found.corrected[0] <= 0.05
                print(
                    f"{share} {length:5} {least:4g} {np.mean(counts):6.1f} {rejected / PAIRS:.3f}", flush=True
                )


if __name__ == "__main__":
    main()
