"""Attack the program: damaged files, run directories, command lines and kills; print what happened.

python benchmarks/attack                       everything, about a quarter of an hour
python benchmarks/attack files --count 1000    one attack, and how many inputs
python benchmarks/attack --python OTHER        another installation, for a comparison
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from attack import files
from attack.outcomes import BAD, table
from attack.pool import try_all


def main() -> int:
    """Run the attacks that are asked for; 1 if any ended badly."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("attacks", nargs="*", default=["files"])
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--bad", action="store_true", help="print every bad ending")
    options = parser.parse_args()
    results = []
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for case, answer in try_all(
            files.cases(options.count, seed=options.seed), "files", Path(folder), python=options.python
        ):
            results.append((case["row"], answer["outcome"]))
            if options.bad and answer["outcome"] in BAD:
                print(json.dumps({**case, **answer}), flush=True)
    print(table(results))
    print(f"{time.monotonic() - start:.0f} s")
    return int(any(outcome in BAD for _, outcome in results))


if __name__ == "__main__":
    sys.exit(main())
