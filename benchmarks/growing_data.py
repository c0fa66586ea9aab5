"""What is saved when data grow: neighbours from an earlier search against a search of all frames.

    python benchmarks/growing_data.py --write docs/performance
    python benchmarks/growing_data.py --frames 20000

Alanine dipeptide at full size. Both ways are run in turn, and the bits compared. Processor seconds are those
of all threads: other programs on the machine change them less than they change the time by the clock.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from pages import save_result
from shared_data import DATA, load_frames

import mdfuzzy as mf
from mdfuzzy.neighbors.growing import SPARE, Earlier, grow_neighbors, with_spare


def old_frames(frames: mf.Frames) -> dict[str, np.ndarray]:
    """Return which frames are known before, by what grows."""
    starts = np.cumsum(frames.lengths) - frames.lengths
    number, place = frames.locate(np.arange(len(frames)))
    return {
        "5 trajectories to 10": np.arange(starts[5]),
        "9 trajectories to 10": np.arange(starts[9]),
        "each of 10 trajectories by a tenth": np.flatnonzero(place < frames.lengths[number] / 1.1),
    }


def timed(function, *arguments, **options):
    """Return what a function returns, and the seconds by the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    found = function(*arguments, **options)
    return found, {"seconds": time.perf_counter() - clock, "processor": time.process_time() - processor}


def search(frames: mf.Frames, n_neighbors: int) -> mf.Neighbors:
    return with_spare(mf.rmsd_neighbors(frames, n_neighbors=n_neighbors + SPARE), n_neighbors)


def measure(frames: mf.Frames) -> list[dict]:
    n_neighbors = 2 * mf.suggest_k(len(frames))
    mf.rmsd_neighbors(frames[:3000], n_neighbors=n_neighbors)  # compiled
    search(frames, n_neighbors)  # memory from the host
    rows = []
    for what, known in old_frames(frames).items():
        before = 2 * mf.suggest_k(len(known))
        earlier = Earlier(search(frames.subset(known), before), known)
        fresh, cost = timed(search, frames, n_neighbors)
        grown, less = timed(grow_neighbors, frames, earlier, n_neighbors=n_neighbors)
        same = np.array_equal(grown.indices, fresh.indices)
        same &= np.array_equal(grown.distances, fresh.distances)
        spare = float(np.isfinite(grown.spare.distances).mean())
        rows.append(
            {
                "what": what,
                "frames": [len(known), len(frames)],
                "neighbors": [before, n_neighbors],
                "fresh": cost,
                "grown": less,
                "saved": 1 - less["processor"] / cost["processor"],
                "same bits": bool(same),
                "spare": spare,
            }
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA / "ala2")
    parser.add_argument("--frames", type=int, help="in all; default: every frame")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    rows = measure(load_frames(options.data, options.frames))
    if options.write:
        save_result(options.write, "growing_data", {"rows": rows})


if __name__ == "__main__":
    main()
