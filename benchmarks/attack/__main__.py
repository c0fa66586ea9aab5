"""Attack the program: damaged files, run directories, command lines and kills; print what happened.

python benchmarks/attack                         everything, about a quarter of an hour
python benchmarks/attack files --count 1000      one attack, and how many inputs
python benchmarks/attack --python OTHER          another installation, for a comparison
"""

import argparse
import json
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from attack.outcomes import BAD, MEANINGS, table
from attack.pool import try_all

#: The attacks: how many inputs each tries, and the seconds that one may take.
ATTACKS = {"files": (6000, 30.0), "folders": (600, 60.0), "lines": (1000, 90.0), "kills": (60, 120.0)}


def main() -> int:
    """Run the attacks that are asked for; 1 if any ended badly."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=", ".join(ATTACKS))
    parser.add_argument("--count", type=int, help="inputs of each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", default=sys.executable, help="the interpreter whose mdfuzzy is attacked")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--patience", type=float, default=1.0, help="times the seconds that a case may take")
    parser.add_argument("--bad", action="store_true", help="print every bad ending")
    options = parser.parse_args()
    bad = 0
    for name in options.attacks or ATTACKS:
        count, patience = ATTACKS[name]
        cases = import_module(f"attack.{name}").cases(options.count or count, seed=options.seed)
        start, results = time.monotonic(), []
        with tempfile.TemporaryDirectory() as folder:
            tries = {
                "python": options.python,
                "processes": options.processes,
                "patience": patience * options.patience,
            }
            for case, answer in try_all(cases, name, Path(folder), **tries):
                results.append((case["row"], answer["outcome"]))
                if options.bad and answer["outcome"] in BAD:
                    print(json.dumps({**case, **answer}), flush=True)
        print(f"\n## {name}\n\n{table(results)}\n\n{time.monotonic() - start:.0f} s", flush=True)
        bad += sum(outcome in BAD for _, outcome in results)
    print("\n" + "\n".join(f"- {name}: {meaning}" for name, meaning in MEANINGS.items()))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
