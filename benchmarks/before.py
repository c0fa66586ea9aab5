"""The exact search for neighbours of alanine dipeptide against another state of the package, in turn.

    python benchmarks/before.py --other OTHER/bin/python --state 7b3a2fd --write docs/performance

OTHER is an environment with the other state. Every search runs in a process of its own, in one thread, and
what counts is the time of the processor: ours, the other, ours, and so on. The nearest `--neighbors` of both
must have the same indices. Ours is also timed with as many neighbours as a run directory keeps.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measuring import machine
from neighbors import DATA, read
from performance import write_result

from mdfuzzy.neighbors.growing import SPARE

#: The search for spare neighbours, too, is timed with fewer frames than this.
MANY = 1_000_000
#: What a process does, in either environment: compile, search, and print the seconds and a checksum.
SEARCH = """
import hashlib, json, sys, time
import numpy as np
import mdfuzzy as mf

xyz, wanted, compared = np.load(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
mf.rmsd_neighbors(xyz[:: max(1, len(xyz) // 5000)].copy(), n_neighbors=10, n_jobs=1)
begin = time.process_time()
found = mf.rmsd_neighbors(xyz, n_neighbors=wanted, n_jobs=1, progress=False)
seconds = time.process_time() - begin
indices = np.ascontiguousarray(found.indices[:, :compared])
print(json.dumps([seconds, hashlib.sha256(indices).hexdigest()]))
"""


def search(python: str, path: Path, wanted: int, compared: int) -> tuple[float, str]:
    """Return the seconds of the processor that a search takes, and a checksum of the nearest frames."""
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    done = subprocess.run(
        [python, "-c", SEARCH, str(path), str(wanted), str(compared)],
        env=os.environ | dict.fromkeys(names, "1"),
        cwd=path.parent,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, checksum = json.loads(done.stdout.splitlines()[-1])
    return seconds, checksum


def compare(xyz: np.ndarray, k: int, other: str, repeats: int, folder: Path) -> dict[str, object]:
    """Search frames in turn, and return medians and their ratios."""
    path = folder / "frames.npy"
    np.save(path, xyz)
    ways = {"ours": (sys.executable, k), "other": (other, k)}
    if len(xyz) < MANY:
        ways["spare"] = sys.executable, k + SPARE
    times: dict[str, list[float]] = {name: [] for name in ways}
    checksums = set()
    for _ in range(repeats):
        for name, (python, wanted) in ways.items():
            seconds, checksum = search(python, path, wanted, k)
            times[name].append(seconds)
            checksums.add(checksum)
            print(f"{len(xyz):>9,} frames  {name:<6}{seconds:>9.2f} s  {checksum[:8]}", flush=True)
    median = {name: float(np.median(seconds)) for name, seconds in times.items()}
    result: dict[str, object] = {
        "frames": len(xyz),
        "searches each": repeats,
        "seconds before": median["other"],
        "seconds": median["ours"],
        "times as long": median["ours"] / median["other"],
        "same indices": "yes" if len(checksums) == 1 else "no",
    }
    if "spare" in median:
        result["times as long, with spare neighbours"] = median["spare"] / median["other"]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--other", required=True, metavar="PYTHON", help="of the other environment")
    parser.add_argument("--state", required=True, metavar="NAME", help="what the other state is called")
    parser.add_argument("--frames", type=int, nargs="+", default=[142_074, 1_420_738])
    parser.add_argument("--repeats", type=int, nargs="+", default=[5, 3], help="for each number of frames")
    parser.add_argument("--neighbors", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=DATA / "ala2")
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for n, repeats in zip(options.frames, options.repeats, strict=True):
            frames = read(options.folder, n)
            results.append(compare(frames, options.neighbors, options.other, repeats, Path(folder)))
    told = {"state": options.state, "neighbors": options.neighbors, "spare": SPARE, "results": results}
    print(json.dumps(told, indent=1))
    if options.write is not None:
        write_result(options.write, "before", told | {"machine": machine()})


if __name__ == "__main__":
    main()
