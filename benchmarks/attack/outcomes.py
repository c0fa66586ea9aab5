"""What an attack can end in, and the table of it."""

from collections import Counter
from collections.abc import Iterable

#: Good and bad endings, each with what it means.
MEANINGS = {
    "same": "the result is that of the undamaged input",
    "clear": "an error of one line that names the file or the option",
    "warned": "another result, with a warning that names the file",
    "value": "what is left is a valid file: another number, or whole frames fewer; only a checksum shows it",
    "unclear": "an error of another type, without the file name, or with a traceback",
    "silent": "another result without a warning",
    "crash": "the process died of a signal",
    "hang": "no answer in the time allowed",
    "lost": "a file of the user was changed or removed",
}
GOOD = ("same", "clear", "warned", "value")
BAD = tuple(name for name in MEANINGS if name not in GOOD)


def table(results: Iterable[tuple[str, str]]) -> str:
    """Return the table of (row, outcome): a row for every kind of input, a column for every outcome.

    Examples
    --------
    >>> print(table([("xtc", "clear"), ("xtc", "same"), ("pdb", "clear")]))
    | input | tried | same | clear | warned | value | unclear | silent | crash | hang | lost |
    |---|---|---|---|---|---|---|---|---|---|---|
    | pdb | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |
    | xtc | 2 | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |
    | **all** | **3** | **1** | **2** | **0** | **0** | **0** | **0** | **0** | **0** | **0** |
    """
    counts: dict[str, Counter] = {}
    for row, outcome in results:
        counts.setdefault(row, Counter())[outcome] += 1
    lines = [f"| input | tried | {' | '.join(MEANINGS)} |", "|" + "---|" * (len(MEANINGS) + 2)]
    for row, each in sorted(counts.items()):
        numbers = [each.total(), *(each[name] for name in MEANINGS)]
        lines.append(f"| {row} | {' | '.join(map(str, numbers))} |")
    every = sum(counts.values(), Counter())
    numbers = [every.total(), *(every[name] for name in MEANINGS)]
    lines.append(f"| **all** | {' | '.join(f'**{number}**' for number in numbers)} |")
    return "\n".join(lines)
