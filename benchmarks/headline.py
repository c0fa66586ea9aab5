"""The whole way from trajectory files to memberships, exports and report: seconds and memory of every step.

    python benchmarks/headline.py                    # all 1,420,738 frames, no parameter given
    python benchmarks/headline.py --frames 20000     # so many of them, evenly spaced
    python benchmarks/headline.py --write docs/performance

The steps are those of `mdfuzzy run`; their times come from the run itself, by a store that looks at the
clock whenever the pipeline asks for a result or keeps one. Writing the XTC files to a temporary folder and
compiling are not counted.
"""

import argparse
import hashlib
import json
import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from measuring import Clock, describe_machine, held_memory, machine
from pages import save_text
from shared_data import DATA, write_xtc

import mdfuzzy as mf
from mdfuzzy._threads import thread_count
from mdfuzzy.cli.outputs import write_outputs
from mdfuzzy.workers.cluster import connect

#: Steps of the pipeline by the names that they have in the store, as the table calls them.
STEPS = {
    "neighbors": "neighbours",
    "dimension": "dimension",
    "bandwidth": "bandwidth",
    "log_density": "density",
    "persistence": "persistence",
    "prominence": "prominence",
    "cores": "cores",
    "beta_scan": "scan over beta",
    "memberships": "memberships",
    "transition_regions": "transition_regions",
    "visits": "visits",
    "extension": "memberships of all frames",
    "extension_error": "error of these memberships",
}
#: What happens before the pipeline asks for a step, where that is more than nothing.
BEFORE = {"neighbors": "fingerprint of the data", "sampled_density": "graph"}
#: The command line scans beta with at most so many fitted frames.
SCANNED = 100_000
#: What the run with all frames should stay below.
FULL = 1_420_738
GOALS = {"minutes": 20.0, "memory": 8.0, "minutes after the neighbours": 7.0, "states": 5}


class TimedStore:
    """A run directory that notes on a clock when results are asked for and kept."""

    def __init__(self, store: mf.RunDir, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._written: set[str] = set()

    def lock(self) -> AbstractContextManager:
        """Let no other run use the folder."""
        return self._store.lock()

    def begin(self, data: mf.Frames, settings: mf.Settings) -> str:
        """Prepare for the run."""
        key = self._store.begin(data, settings)
        self._clock.lap("fingerprint of the data")
        return key

    def get(self, name: str, *, key: str = "") -> dict[str, np.ndarray] | None:
        """Ask for a result; the step begins, unless it is read again from the files just written."""
        self._clock.lap("writing results" if name in self._written else BEFORE.get(name, "between steps"))
        return self._store.get(name, key=key)

    def put(self, name: str, *, key: str = "", growing: bool = False, **arrays: np.ndarray) -> None:
        """Keep a result; the step has ended."""
        self._clock.lap(STEPS.get(name, name))
        self._store.put(name, key=key, growing=growing, **arrays)
        self._clock.lap("writing results")
        self._written.add(name)

    def earlier(self, name: str) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
        """Return what an earlier run with some of the frames kept."""
        return self._store.earlier(name)

    def scratch(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return room for what is not kept."""
        return self._store.scratch(shape, dtype)

    def parts(self, name: str, *, key: str) -> object:
        """Return where a step keeps parts of its work."""
        return self._store.parts(name, key=key)


def compile_kernels(folder: Path) -> None:
    """Go the whole way once with few frames, so that kernels are on disk.

    It needs a process of its own: a compiler keeps some hundred MB.
    """
    frames = mf.datasets.alanine_dipeptide(stride=20)
    result = mf.cluster(frames, mf.Settings(scan_beta=True, prominence=1.0), store=mf.RunDir(folder))
    for _ in write_outputs(folder, result):
        pass


def run(
    files: list[Path],
    top: Path,
    folder: Path,
    *,
    features: str | None = None,
    fit_frames: int | None = None,
    address: str | None = None,
) -> dict:
    """Go the whole way, as `mdfuzzy run` does, and return what every step took and what was found."""
    store = mf.RunDir(folder)
    with nullcontext() if address is None else connect(address) as client:
        clock = Clock()
        reading = {"top": top, "scratch": store.scratch_folder, "client": client}
        frames = mf.load(files, **reading) if features is None else mf.featurize(files, features, **reading)
        clock.lap("reading")
        scanned = (fit_frames or len(frames)) <= SCANNED
        settings = mf.Settings(scan_beta=scanned, fit_frames=fit_frames)
        result = mf.cluster(frames, settings, store=TimedStore(store, clock), progress=False, client=client)
        clock.lap("between steps")
        outputs: Iterator[str] = write_outputs(folder, result, client=client)
        for line in outputs:
            print(line, flush=True)
            clock.lap(line.partition(": ")[0].partition(" in ")[0].partition(",")[0])
    return {
        "frames": len(frames),
        "fit frames": fit_frames,
        "features": features,
        "workers": address,
        "bits": hashlib.blake2b(result.memberships.values.tobytes(), digest_size=16).hexdigest(),
        "error": None if result.sample is None else str(result.sample.error),
        "k": result.k,
        "edges": len(result.graph.indices),
        "threads": thread_count(None),
        "steps": clock.rows(),
        "states": result.n_states,
        "basins": result.cores.basin_sizes.tolist(),
        "transition_regions": len(result.transition_regions),
        "verdict": result.tree.words,
        "chosen": result.chosen,
        "warnings": list(result.warnings),
        "megabytes": sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6,
        "machine": machine("scikit-learn", "mdtraj", "deeptime"),
    }


def seconds(found: dict, *, after: str | None = None) -> float:
    """Return the time of all steps, or of those after the step named."""
    names = [step["name"] for step in found["steps"]]
    first = 0 if after is None else names.index(after) + 1
    # Steps that come again and again stand where they came first; none of them comes before the neighbours.
    return sum(step["seconds"] for step in found["steps"][first:])


def table(found: dict) -> list[str]:
    """Return the table of steps as lines of Markdown."""
    total = seconds(found)
    lines = ["| step | seconds | share | processor seconds | peak memory |", "|---|--:|--:|--:|--:|"]
    lines += [
        f"| {step['name']} | {step['seconds']:.1f} | {step['seconds'] / total:.1%} "
        f"| {step['processor'] + step['system']:.1f} | {step['memory']:.2f} GB |"
        for step in found["steps"]
    ]
    memory = max(step["memory"] for step in found["steps"])
    used = sum(step["processor"] + step["system"] for step in found["steps"])
    return [*lines, f"| **all** | **{total:.1f}** | | **{used:.1f}** | **{memory:.2f} GB** |"]


def goals(found: dict) -> list[str]:
    """Return what the run should stay below, and whether it does, as lines of Markdown."""
    if found["frames"] < FULL:
        return [f"(The goals are those of all {FULL:,} frames.)"]
    measured = {
        "minutes": seconds(found) / 60,
        "memory": max(step["memory"] for step in found["steps"]),
        "minutes after the neighbours": seconds(found, after="neighbours") / 60,
        "states": found["states"],
    }
    lines = ["| | goal | measured |", "|---|--:|--:|"]
    for name, goal in GOALS.items():
        value = measured[name]
        good = value == goal if name == "states" else value <= goal
        shown = f"{value}" if name == "states" else f"{value:.1f}"
        unit = " GB" if name == "memory" else ""
        sign = "" if name == "states" else "at most "
        lines.append(f"| {name} | {sign}{goal:g}{unit} | {shown}{unit}{'' if good else ' (**missed**)'} |")
    return lines


def main() -> None:
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA / "ala2", metavar="FOLDER")
    parser.add_argument("--frames", type=int, help="how many, evenly spaced; all by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measurements there")
    parser.add_argument(
        "--hold",
        type=float,
        metavar="GB",
        help="have so much memory before; what steps need is then hidden",
    )
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    parser.add_argument("--fit-frames", type=int, help="find the states on so many frames")
    parser.add_argument(
        "--copies", type=int, help="perturb every frame so many times by 0.02 nm: for throughput, no science"
    )
    parser.add_argument("--features", help="compare these features instead of RMSD, such as torsions")
    parser.add_argument(
        "--xtc", type=Path, metavar="FOLDER", help="keep the trajectories there, or find them"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the run directory there")
    parser.add_argument("--dask", metavar="ADDRESS|local:N", help="on the workers of a cluster")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    warnings.simplefilter("ignore")  # they are in the result
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        xtc, kept = options.xtc or folder / "xtc", options.keep or folder / "run"
        files = sorted(xtc.glob("*.xtc"))
        way = {"features": options.features, "fit_frames": options.fit_frames, "address": options.dask}
        files = files or write_xtc(options.data, xtc, options.frames, copies=options.copies)
        first = get_context("spawn").Process(target=compile_kernels, args=(folder / "small",))
        first.start()
        first.join()
        with nullcontext() if options.hold is None else held_memory(options.hold):
            found = run(files, xtc / "ala2.pdb", kept, **way)
    print(f"{found['frames']:,} frames; {describe_machine(found['machine'])}")
    print("\n".join([*table(found), "", *goals(found)]))
    print(
        f"{found['states']} states {found['basins']}, {found['transition_regions']} transition "
        f"regions; {found['verdict']}"
    )
    if options.json is not None:
        save_text(options.json, json.dumps(found, indent=1) + "\n")
    if options.write is not None:
        from performance import write_result

        name = "headline"
        if options.copies:
            name = "ten_million" if options.features else "by_rmsd"
        write_result(options.write, name, found)


if __name__ == "__main__":
    main()
