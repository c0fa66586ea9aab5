"""The process that tries cases: one line of JSON for each, one line of JSON as the answer."""

import json
import os
import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Answer until the input ends. What libraries print is kept apart from the answers."""
    kind, folder = sys.argv[1], Path(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.path.insert(0, str(Path(__file__).parents[1]))
    attempt = import_module(f"attack.{kind}").attempt
    for line in sys.stdin:
        case = json.loads(line)
        answers.write(json.dumps({} if "warm" in case else attempt(case, folder)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
