"""What dask_scaling.py measured as tables, and what more frames would take.

python benchmarks/dask_forecast.py docs/performance    # forecasts from the latest results there
"""

import argparse
import json
from pathlib import Path

import numpy as np

from mdfuzzy.neighbors._dask.memory import choose_layout, index_bytes
from mdfuzzy.neighbors.rmsd import BLOCK, GROUP
from mdfuzzy.workers.cluster import Workers

#: What Dask may cost.
GOAL = 0.20
#: What is forecast: frames, workers, threads of a worker, bytes of a worker.
FORECASTS = ((10_000_000, 32, 1, 16e9), (100_000_000, 8, 32, 128e9), (100_000_000, 256, 1, 8e9))
ATOMS = 10
#: What is forecast with a sample: frames, and fitted frames.
SAMPLED = (100_000_000, 1_000_000)
#: Steps of a fit. Its check fits twice as many frames, and half as many.
_FIT = (
    "neighbours", "graph", "dimension", "bandwidth", "sampled_density", "peaks", "tree", "cores",
    "milestones", "memberships", "writing results", "between steps",
)  # fmt: skip


def forecast(folder: Path, shard_cost: float) -> list[dict]:
    """Return what more frames would take.

    From the measured cost of a query and its growth, which are read from `folder`; shards cost `shard_cost`
    times as much as one index.
    """
    searches = json.loads((folder / "neighbors.json").read_text(encoding="utf-8"))
    whole = json.loads((folder / "headline.json").read_text(encoding="utf-8"))
    k = searches["neighbors"]
    cost2, power, n2 = _growth(searches)
    steps = {step["name"]: step for step in whole["steps"]}
    graph = [steps[name] for name in ("graph", "between steps") if name in steps]  # it is not saved
    found = []
    for n, count, threads, memory in FORECASTS:
        workers = Workers(tuple(f"tcp://{each}" for each in range(count)), count * threads, memory)
        layout = choose_layout(workers, n=n, atoms=ATOMS, n_others=0, n_neighbors=k, block=GROUP * BLOCK)
        query = 12 * ATOMS + 24 + 12 * k  # with what was found so far
        sent = n * query * (layout.shards - 1) if layout.sharded else index_bytes(n, ATOMS) * count
        more = n / whole["frames"]
        found.append(
            {
                "frames": n,
                "workers": count,
                "cores": count * threads,
                "limit of a worker": memory / 1e9,
                "layout": "sharded" if layout.sharded else "scattered",
                "shards": layout.shards,
                "power": power,
                "core hours": n * cost2 * (n / n2) ** power * (shard_cost if layout.sharded else 1) / 3600,
                "memory of a worker": layout.memory / 1e9,
                "between workers": sent / 1e9,
                "to the client": 8 * k * n / 1e9,
                "graph hours": more * sum(step["seconds"] for step in graph) / 3600,
                "graph memory": more * max(step["memory"] for step in graph),
                "solve hours": more * steps["memberships"]["seconds"] / 3600,
                "solve memory": more * steps["memberships"]["memory"],
                "threads": whole["threads"],
            }
        )
    return found


def forecast_table(found: list[dict]) -> list[str]:
    """Return the forecasts as lines of Markdown."""
    heads = " | ".join(f"{each['frames'] / 1e6:.0f} million frames" for each in found)
    lines = [f"| | {heads} |", "|---|" + "--:|" * len(found)]

    def row(name: str, words: list[str]) -> None:
        lines.append(f"| {name} | " + " | ".join(words) + " |")

    row("search, core hours", [f"{each['core hours']:.1f}" for each in found])
    each_has = [(each["cores"] // each["workers"], each["limit of a worker"]) for each in found]
    row("workers", [f"{each['workers']}" for each in found])
    row("each with", [f"{cores} core{'s' * (cores > 1)}, {memory:.0f} GB" for cores, memory in each_has])
    row("duration", [_spell(each["core hours"] / each["cores"]) for each in found])
    row(
        "layout",
        [f"sharded, {each['shards']} shards" if each["shards"] > 1 else "scattered" for each in found],
    )
    row("memory of a worker, at most", [f"{each['memory of a worker']:.1f} GB" for each in found])
    row(
        "network, between all workers together",
        [f"{each['between workers']:,.0f} GB" for each in found],
    )
    row("network, results to the client", [f"{each['to the client']:,.0f} GB" for each in found])
    row(
        "graph, on one machine",
        [f"{_spell(each['graph hours'])}, {each['graph memory']:,.0f} GB" for each in found],
    )
    row(
        "memberships, on one machine",
        [f"{_spell(each['solve hours'])}, {each['solve memory']:,.0f} GB" for each in found],
    )
    row(
        "memberships take longer than the search on more than",
        [f"{each['core hours'] / each['solve hours']:.0f} cores" for each in found],
    )
    row(
        "memory of the one machine, set by memberships",
        [f"{each['solve memory']:,.0f} GB" for each in found],
    )
    return lines


def sampled_forecast(folder: Path) -> dict:
    """Return what 100 million frames would take if the states are found on one million of them."""
    whole, by_rmsd, many, searches = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("headline", "by_rmsd", "ten_million", "neighbors")
    )
    power = _growth(searches)[1]
    n, fitted = SAMPLED

    def per_frame(*names: str) -> float:
        steps = [step for step in by_rmsd["steps"] if step["name"] in names]
        return sum(step["processor"] + step["system"] for step in steps) / by_rmsd["frames"]

    fit = [step for step in whole["steps"] if step["name"] in _FIT]
    exports = [
        step["name"]
        for step in by_rmsd["steps"]
        if step["name"].startswith(("Traj", "A table (CSV) with a row for every frame"))
    ]
    more = (fitted / by_rmsd["fit frames"]) ** power
    peak = {
        name: max(step["memory"] for step in each["steps"]) for name, each in (("fit", whole), ("all", many))
    }
    first = min(step["memory"] for step in many["steps"])
    return {
        "frames": n,
        "fitted": fitted,
        "power": power,
        "frames of the run": many["frames"],
        "frames of the run by RMSD": by_rmsd["frames"],
        "fit core hours": 3.5
        * sum(each["processor"] + each["system"] for each in fit)
        * fitted
        / whole["frames"]
        / 3600,
        "fit memory": 2 * peak["fit"] * fitted / whole["frames"],
        "reading core hours": n * per_frame("reading") / 3600,
        "assigning core hours": n * per_frame("memberships of all frames") * more / 3600,
        "microseconds": 1e6 * per_frame("memberships of all frames") * more,
        "exports core hours": n * per_frame(*exports) / 3600,
        "memory": first + n * (peak["all"] - first) / many["frames"],
        "disk": n * (many["megabytes"] / 1e3 / many["frames"] + 12 * ATOMS / 1e9),  # and coordinates
        "to the client": n * (12 * ATOMS + 16 + 8 * (by_rmsd["states"] + 1)) / 1e9,
    }


def sampled_table(found: dict) -> list[str]:
    """Return the forecast for a sample as lines of Markdown."""
    rows = {
        "reading, on the workers": f"{found['reading core hours']:.1f} core hours",
        "fit and its check, on the client": f"{found['fit core hours']:.1f} core hours, "
        f"{found['fit memory']:.1f} GB of memory",
        "assigning, on the workers": f"{found['assigning core hours']:.1f} core hours "
        f"({found['microseconds']:.0f} µs for a frame)",
        "exports of all frames, on the workers": f"{found['exports core hours']:.1f} core hours",
        "network, to the client, without exports": f"{found['to the client']:.0f} GB",
        "memory of the client, at most": f"{max(found['memory'], found['fit memory']):.0f} GB",
        "disk of the client": f"{found['disk']:.0f} GB",
    }
    head = f"{found['frames'] / 1e6:.0f} million frames, states found on {found['fitted'] / 1e6:.0f} million"
    return [f"| | {head} |", "|---|--:|", *(f"| {name} | {value} |" for name, value in rows.items())]


def _growth(searches: dict) -> tuple[float, float, int]:
    """Return the core seconds of a query in the largest search, the power of growth, and its frames."""
    (n1, cost1), (n2, cost2) = sorted(
        (each["frames"], searches["machine"]["cores"] * each["seconds"] / each["frames"])
        for each in searches["results"]
    )[-2:]
    return cost2, float(np.log(cost2 / cost1) / np.log(n2 / n1)), n2


def _spell(hours: float) -> str:
    minutes = round(60 * hours)
    return f"{hours:.1f} hours" if hours >= 2 else f"{minutes} minute{'s' * (minutes != 1)}"


def table(found: dict) -> list[str]:
    """Return the measurements as lines of Markdown."""
    lines = [
        "| workers | layout | seconds | seconds with threads | overhead | overhead in processor time "
        "| identical result | memory of a worker, GB | estimated memory, GB |",
        "|--:|---|--:|--:|--:|--:|---|--:|--:|",
    ]
    for each in found["runs"]:
        work = each["processor time"]
        for layout, (peak, estimate) in each["memory"].items():
            lines.append(
                f"| {each['workers']} | {layout} | {each[layout]:.1f} | {each['local']:.1f} "
                f"| {each[layout] / each['local'] - 1:+.0%} | {work[layout] / work['local'] - 1:+.0%} "
                f"| {'yes' if each['equal'] else 'NO'} | {peak:.2f} | {estimate:.2f} |"
            )
    return lines


def goal(found: dict) -> str:
    """Say whether the goal is met."""
    worst = max(each["scattered"] / each["local"] - 1 for each in found["runs"])
    return f"{worst:+.0%} at most, goal {GOAL:+.0%}: {'met' if worst <= GOAL else 'MISSED'}"


def main() -> None:
    """Compute both forecasts again, and write the page."""
    from pages import save_result
    from performance import write_page

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    dask, whole = (
        json.loads((folder / f"{name}.json").read_text("utf-8")) for name in ("dask", "dask_whole")
    )
    forecasts = forecast(folder, dask["shards"]["shard_cost"])
    save_result(folder, "dask", dask | {"forecasts": forecasts})
    save_result(folder, "dask_whole", whole | {"forecast": sampled_forecast(folder)})
    print(write_page(folder))


if __name__ == "__main__":
    main()
