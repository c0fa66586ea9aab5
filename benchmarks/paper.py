"""What the paper of Bonis and Oudot shows, computed again: figures, tables and the page about them.

    python benchmarks/paper.py                      # everything, alanine dipeptide with the bundled frames
    python benchmarks/paper.py --full               # and with all 1,420,738 frames of it
    python benchmarks/paper.py --only table         # one part; the page is made from all

The data (--data) is a folder with the subfolders uci and ala2. Without uci the three sets are fetched from
OpenML; --full needs ala2.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from bonis_oudot import alanine, gaussians, links, spirals, table
from bonis_oudot.page import EXPERIMENTS, write_page
from pages import save_result
from shared_data import DATA, load_frames

import mdfuzzy as mf


def main() -> None:
    """Run what is asked for and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--only", choices=EXPERIMENTS, help="compute this part alone")
    parser.add_argument(
        "--full", action="store_true", help="count states of all frames of alanine dipeptide too"
    )
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).parents[1] / "docs" / "paper", metavar="FOLDER"
    )
    parser.add_argument("--jobs", type=int, help="threads; every core by default")
    options = parser.parse_args()
    output, jobs = options.output, options.jobs
    uci = options.data / "uci" if (options.data / "uci").is_dir() else None
    parts: dict[str, Callable[[], dict]] = {
        "gaussians": lambda: gaussians.run(output, jobs=jobs),
        "links": lambda: links.run(output, jobs=jobs),
        "spirals": lambda: spirals.run(output, jobs=jobs),
        "table": lambda: table.run(output, uci_data=uci, jobs=jobs),
        "alanine": lambda: alanine.run(
            output,
            mf.datasets.alanine_dipeptide(),
            more=load_frames(options.data / "ala2", None) if options.full else None,
            jobs=jobs,
        ),
    }
    for name in [options.only] if options.only else EXPERIMENTS:
        start = time.perf_counter()
        save_result(output, name, parts[name]())
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    print(write_page(output))


if __name__ == "__main__":
    main()
