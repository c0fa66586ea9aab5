"""Seconds and memory of every step against the number of frames, each size in a process of its own.

    python benchmarks/growth.py                                  # 20,000 to 1,420,738 frames
    python benchmarks/growth.py --frames 2000 5000 10000 --write docs/performance

The measurements are those of benchmarks/headline.py. A first run of every size shows the memory of the steps;
with all frames it is written as the result of headline.py, too. Then come runs whose process has its memory
from the beginning, because a virtual machine takes seconds to get a GB from its host, and of these every step
counts with the fastest: whatever else the machine does only adds. An exponent e says that a step takes n**e;
n log n is an exponent of about 1.08 at these sizes. It is fitted to the seconds on the clock and to the
processor's in the program itself, without those of the system.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from headline import seconds
from shared_data import DATA

SIZES = (20_000, 50_000, 142_074, 400_000, 1_420_738)
#: A step that takes less than this at the largest size is not fitted: calls, not frames, take its time.
LEAST = 0.5
#: What is measured of a step, in seconds: by the clock; of the processor in the program, and in the system.
MEASURED = ("seconds", "processor", "system")
#: Memory that a process has from the beginning, GB, and for every million frames.
HELD, HELD_PER_MILLION = 0.5, 4.5
#: The scan over beta looks at so many frames at most, so it does not grow beyond.
BOUNDED = ("scan over beta",)


def measure(frames: int, data: Path, *, hold: bool) -> dict:
    """Return the measurements of benchmarks/headline.py with so many frames, in memory held or not."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "headline.json"
        script = Path(__file__).with_name("headline.py")
        command = [sys.executable, script, "--data", data, "--json", result]
        if frames != SIZES[-1]:  # all of them
            command += ["--frames", str(frames)]
        if hold:
            command += ["--hold", str(HELD + HELD_PER_MILLION * frames / 1e6)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(result.read_text(encoding="utf-8"))


def fastest(first: dict, runs: list[dict]) -> dict:
    """Return the first run with the shortest time of every step in any of the others."""
    by_name = [{step["name"]: step for step in each["steps"]} for each in runs]
    steps = [
        step | {what: min(each.get(step["name"], step)[what] for each in by_name) for what in MEASURED}
        for step in first["steps"]
    ]
    return first | {"steps": steps, "repeats": len(runs)}


def collect(found: list[dict]) -> dict[str, dict[str, np.ndarray]]:
    """Return by step the seconds and the peak memory at every size."""
    names = [step["name"] for step in found[-1]["steps"]]
    by_name = [{step["name"]: step for step in each["steps"]} for each in found]
    steps = {
        name: {
            what: np.array([each.get(name, {}).get(what, np.nan) for each in by_name])
            for what in (*MEASURED, "memory")
        }
        for name in names
    }
    later = [steps[name] for name in names[names.index("neighbours") + 1 :]]
    after = {what: np.nansum([step[what] for step in later], axis=0) for what in MEASURED}
    memory = np.max([step["memory"] for step in steps.values()], axis=0)
    return steps | {"all after the neighbours": after | {"memory": memory}}


def exponent(sizes: np.ndarray, values: np.ndarray) -> float:
    """Fit n ** e by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def table(found: list[dict]) -> list[str]:
    """Return seconds and exponents as lines of Markdown."""
    sizes = np.array([each["frames"] for each in found])
    header = " | ".join(f"{n:,}" for n in sizes)
    lines = [
        f"| step, seconds at frames | {header} | share of the system "
        "| exponent | exponent, two largest | exponent, user time |",
        "|---|" + "--:|" * (len(sizes) + 4),
    ]
    steps = collect(found)
    for name, step in steps.items():
        cells = " | ".join(f"{value:.1f}" for value in step["seconds"])
        system = step["system"][-1] / max(step["system"][-1] + step["processor"][-1], 1e-9)
        fitted = _exponents(name, sizes, step["seconds"], step["processor"])
        lines.append(f"| {name} | {cells} | {system:.0%} | {fitted} |")
    memory = steps["all after the neighbours"]["memory"]
    edges = np.array([each["edges"] for each in found]) / 1e6
    for name, values in (("peak memory, GB", memory), ("edges of the graph, millions", edges)):
        cells = " | ".join(f"{value:.2f}" for value in values)
        lines.append(f"| {name} | {cells} | | {_exponents(name, sizes, values, values)} |")
    per_edge = steps["memberships"]["processor"] / edges
    cells = " | ".join(f"{value:.2f}" for value in per_edge)
    lines.append(f"| memberships in the program, µs per edge | {cells} | | | | |")
    return [*lines, "", verdict(found)]


def verdict(found: list[dict]) -> str:
    """Say which steps after the neighbours grow faster than n log n."""
    sizes = np.array([each["frames"] for each in found])
    limit = exponent(sizes, sizes * np.log(sizes))
    steps = collect(found)
    names = list(steps)
    later = [
        name
        for name in names[names.index("neighbours") + 1 :]
        if name not in BOUNDED and steps[name]["seconds"][-1] >= LEAST
    ]
    words = []
    for what, where in (("seconds", "by the clock"), ("processor", "in the program itself")):
        powers = {name: exponent(sizes, np.maximum(steps[name][what], 1e-3)) for name in later}
        above = [f"{name} ({power:.2f})" for name, power in powers.items() if power > limit]
        words.append(f"{where}: {', '.join(above) or 'none'}")
    return (
        f"Of {len(later)} steps after the neighbours that take at least {LEAST:g} s with all frames, those "
        f"that grow faster than n log n ({limit:.2f}) over all sizes, {'; '.join(words)}."
    )


def _exponents(name: str, sizes: np.ndarray, values: np.ndarray, inside: np.ndarray) -> str:
    """Return three cells: the exponent of all sizes, of the two largest, and of the program by itself."""
    if name in BOUNDED:
        return "bounded | | "
    if "," not in name and values[-1] < LEAST:  # seconds
        return " | | "
    program = exponent(sizes, np.maximum(inside, 1e-3))
    return f"{exponent(sizes, values):.2f} | {exponent(sizes[-2:], values[-2:]):.2f} | {program:.2f}"


def draw(found: list[dict], path: Path) -> None:
    """Draw every step that takes long enough, and the memory, on logarithmic axes."""
    import matplotlib.pyplot as plt

    sizes = np.array([each["frames"] for each in found])
    steps = {name: step for name, step in collect(found).items() if step["seconds"][-1] >= LEAST}
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", width_ratios=(3, 2))
    colours = plt.get_cmap("tab20").colors
    for place, (name, step) in enumerate(sorted(steps.items(), key=lambda item: -item[1]["seconds"][-1])):
        whole = name == "all after the neighbours"
        words = name if name in BOUNDED else f"{name}: {exponent(sizes, step['seconds']):.2f}"
        style = {"color": "black", "lw": 2.5} if whole else {"color": colours[place % len(colours)]}
        left.loglog(sizes, step["seconds"], "o-", ms=3, label=words, **style)
        right.loglog(sizes, step["memory"], "o-", ms=3, **style)
    last = steps["all after the neighbours"]["seconds"][-1]
    shape = sizes * np.log(sizes)
    left.loglog(sizes, last * shape / shape[-1], "k:", lw=1, label="n log n")
    left.set(xlabel="frames", ylabel="seconds", title="time, with fitted exponents")
    left.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    power = exponent(sizes, steps["all after the neighbours"]["memory"])
    right.set(xlabel="frames", ylabel="GB", title=f"peak memory; the largest: {power:.2f}")
    right.yaxis.set_major_formatter("{x:g}")
    right.yaxis.set_minor_formatter("{x:g}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    """Measure every size, print the table, draw the plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frames", type=int, nargs="+", default=SIZES)
    parser.add_argument("--data", type=Path, default=DATA / "ala2", metavar="FOLDER")
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    parser.add_argument("--repeats", type=int, default=2, help="runs of every size after the first")
    options = parser.parse_args()
    found = []
    for frames in sorted(options.frames):
        first = measure(frames, options.data, hold=False)
        runs = [measure(frames, options.data, hold=True) for _ in range(options.repeats)]
        found.append(fastest(first, runs))
        print(
            f"{frames:,} frames: {', '.join(f'{seconds(run):.1f}' for run in (first, *runs))} s", flush=True
        )
    print("\n".join(table(found)))
    if options.write is not None:
        from performance import write_result

        draw(found, options.write / "growth.svg")
        write_result(options.write, "growth", {"runs": found})
        if found[-1]["frames"] == SIZES[-1]:
            write_result(options.write, "headline", first)


if __name__ == "__main__":
    main()
