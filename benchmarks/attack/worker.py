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
    module = import_module(f"attack.{kind}")
    for line in sys.stdin:
        case = json.loads(line)
        if "warm" in case:
            module.warm(folder)
            answer = {}
        else:
            answer = module.attempt(case, folder)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
