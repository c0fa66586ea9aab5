"""Whole runs in one process and on the workers of a local cluster: seconds of each step, and the same bits.

    python benchmarks/dask_whole.py --write docs/performance
    python benchmarks/dask_whole.py --frames 1420738 --fit-frames 100000 --features torsions --kill 20

In the last run one of two workers is killed while frames are assigned.
"""

import argparse
import json
import logging
import os
import signal
import tempfile
import warnings
from multiprocessing import get_context
from pathlib import Path
from threading import Timer

import headline
from measuring import describe_machine, machine
from pages import save_text
from shared_data import DATA, write_xtc

from mdfuzzy._threads import thread_count
from mdfuzzy.pipeline import extension

RUNS = {"one process": None, "1 worker": "local:1", "2 workers": "local:2", "one of 2 killed": "local:2"}
#: Frames that are assigned together: fewer than usual, so that there are chunks for several workers.
CHUNK = 32_768
#: Steps of the table, and the steps of the benchmark that each is made of; all others are added up.
ROWS = {
    "reading": ("reading",),
    "neighbours of the fitted frames": ("neighbours",),
    "assigning": ("memberships of all frames",),
    "error of the memberships": ("error of these memberships",),
    "trajectories of the states (XTC)": (
        "Trajectories of the frames of each state and of each transition region",
        "Trajectories of the frames of each state and of each transition",  # the name in former results
    ),
    "table (CSV)": ("A table (CSV) with a row for every frame",),
}


class Killer(logging.Handler):
    """Kills a worker some seconds after frames are first assigned."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.killed = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Wait for the message."""
        if record.getMessage().startswith("assigning ") and not self.killed:
            Timer(self.seconds, self.kill).start()

    def kill(self) -> None:
        """Kill the first worker."""
        from distributed import default_client

        self.killed = next(iter(default_client().run(os.getpid).values()))
        os.kill(self.killed, signal.SIGKILL)


def measure(files: list[Path], top: Path, fit_frames: int, seconds: float, features: str | None) -> dict:
    """Run everything in every way."""
    if features is None:
        extension.CHUNK = CHUNK
    found: dict = {"runs": [], "machine": machine("dask", "distributed"), "threads": thread_count(None)}
    for name, address in RUNS.items():
        killer = Killer(seconds)
        if name.endswith("killed"):
            logging.getLogger("mdfuzzy").addHandler(killer)
        with tempfile.TemporaryDirectory() as folder:
            run = headline.run(
                files, top, Path(folder), features=features, fit_frames=fit_frames, address=address
            )
        logging.getLogger("mdfuzzy").removeHandler(killer)
        row = {"name": name, "bits": run["bits"], "killed": killer.killed > 0, "steps": run["steps"]}
        found["runs"].append(row)
        found |= {"frames": run["frames"], "fit frames": fit_frames, "files": len(files)}
        found["features"] = features
        print(json.dumps(row), flush=True)
    return found


def table(found: dict) -> list[str]:
    """Return the seconds of every step as lines of Markdown."""
    runs = found["runs"]
    lines = [f"| seconds | {' | '.join(run['name'] for run in runs)} |", "|---|" + "--:|" * len(runs)]
    known = {each for names in ROWS.values() for each in names}

    def row(name: str, wanted: list[list[float]]) -> None:
        lines.append(f"| {name} | {' | '.join(f'{sum(each):.1f}' for each in wanted)} |")

    for name, steps in ROWS.items():
        row(name, [[each["seconds"] for each in run["steps"] if each["name"] in steps] for run in runs])
    others = [[each["seconds"] for each in run["steps"] if each["name"] not in known] for run in runs]
    row("all other steps", others)
    row("**all**", [[each["seconds"] for each in run["steps"]] for run in runs])
    same = ["yes" if run["bits"] == runs[0]["bits"] else "NO" for run in runs]
    return [*lines, f"| same bits | {' | '.join(same)} |"]


def main() -> None:
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA / "ala2", metavar="FOLDER")
    parser.add_argument("--frames", type=int, default=35_518, help="how many, evenly spaced")
    parser.add_argument("--copies", type=int, default=7, help="perturb every frame so many times")
    parser.add_argument("--fit-frames", type=int, default=20_000, help="find the states on so many frames")
    parser.add_argument("--features", help="compare these features instead of RMSD, such as torsions")
    parser.add_argument("--kill", type=float, default=2.0, metavar="SECONDS", help="when a worker is killed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measurements there")
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write_xtc(options.data, folder / "xtc", options.frames, copies=options.copies)
        first = get_context("spawn").Process(target=headline.compile_kernels, args=(folder / "small",))
        first.start()
        first.join()
        top = folder / "xtc" / "ala2.pdb"
        found = measure(files, top, options.fit_frames, options.kill, options.features)
    print("\n".join(table(found)), describe_machine(found["machine"]), sep="\n")
    if options.json is not None:
        save_text(options.json, json.dumps(found, indent=1) + "\n")
    if options.write is not None:
        from dask_forecast import sampled_forecast
        from performance import write_result

        if options.features is None:
            found["forecast"] = sampled_forecast(options.write)
        write_result(options.write, "dask_whole" if options.features is None else "dask_features", found)


if __name__ == "__main__":
    main()
