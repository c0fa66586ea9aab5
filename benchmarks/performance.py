"""The page about performance, made from the results of the other benchmarks, as they were written last.

    python benchmarks/performance.py docs/performance

headline.py, sampling.py, growth.py, peers.py, neighbors.py, dask_scaling.py and core.py write their results
there with --write, and with them this page.
"""

import argparse
from pathlib import Path

import dask_forecast
import growth
import headline
import peers
import sampling
from measuring import describe_machine
from pages import save_page, save_result

_HEAD = """# Performance

<!-- Made by benchmarks/performance.py from the JSON files beside this page; changes here are lost. -->

Seconds depend on the machine and on what else it does, so ratios come first: every peer was measured in
the same run, on the same frames and cores. Each part names the command that measures it again.
"""


_PEERS = """## Other programs on the same frames

    python benchmarks/peers.py --frames {frames} --limit {limit:.0f}

*Times ours* is a program's time over that of mdfuzzy for the whole way from frames to memberships (for GUDHI,
which gets our graph, over that of the same step). {frames:,} frames of alanine dipeptide, threads: {threads},
at most {limit:.0f} s for each program. PyEMMA is told a distance, MDScan the size of a neighbourhood and of
the smallest cluster, cpptraj our number of states; it compares all pairs of some of the frames and gives the
others to the nearest cluster. *Pure*: the share of frames that are in the state which is most frequent in
their cluster.

{table}

{machine}
"""

_HEADLINE = """## The whole way, {frames:,} frames

    python benchmarks/headline.py

From XTC files to memberships, pictures, files for other programs and the report, as `mdfuzzy run` does it, no
parameter given. {states} states with {sizes} frames; transition regions: {transition_regions};
{megabytes:,.0f} MB of results on disk; threads: {threads}.

{goals}

{table}

{machine}
"""

_SAMPLING = """## States found on some of the frames

    python benchmarks/sampling.py --frames {frames} --write docs/performance

{frames:,} frames of alanine dipeptide, in which a fit of all finds {states} states, and fits of some of them
whose memberships are extended to all (`--fit-frames`). The difference of two memberships of a frame is half
of the sum of the absolute differences over the states: its mean, and what 99 % of the frames do not exceed.
*True* is the difference from the fit of all frames. *Expected* is what the run says of itself, from a fit of
half of the sample: it shows the random part of the difference, not what only more frames change. In the fit
of all, the mean membership in one state is 0.31; in the others it is 0.41 to 0.42.

{table}

{machine}
"""

_TEN_MILLION = """## {frames:,} frames

    python benchmarks/headline.py --copies 7 --features {features} --fit-frames {fit_frames}

Throughput and memory, no science: every frame of the whole way above, perturbed seven times by an RMSD of
0.02 nm. Compared by {features}; states found on {fit_frames:,} frames. Other programs used the same
processor, so the seconds *of the processor* say more than those of the clock.

{table}

{machine}
"""

_GROWTH = """## Growth with the number of frames

    python benchmarks/growth.py

Each size in processes of its own, threads: {threads}. Memory is that of a first run. Of every step the
time is the shortest in {repeats} more, whose process has its memory from the beginning: a virtual machine
may take seconds for every GB that it has to get from its host, as in the whole way above. An exponent e
means that the time grows as the number of frames to the power e, fitted to all sizes, and to the two
largest alone, and to the processor's time in the program without that in the system; n log n is about
1.08. The number of neighbours in the graph, k, is chosen by the number of frames and grows as its
logarithm: so do the edges of a frame, and what takes the same time for every edge grows as n log n, or as
the edges do. *Of that system*: the share of the processor's time with all frames in which the system
hands out memory or writes files.

![time and memory against frames](growth.svg)

{table}

{machine}
"""

_NEIGHBORS = """## The search for neighbours

    python benchmarks/neighbors.py --frames 50000 142074 400000 1420738 --peers 142074 \\
        --plot docs/performance/neighbors.svg --write docs/performance

*Times md.rmsd* is the time of comparing all pairs with mdtraj over ours, *times vectorised kernel* the same
with the package's own vectorised kernel. Exact RMSD neighbours, {neighbors} of every frame.

{table}

![seconds against frames, on log axes](neighbors.svg)

{peers}

{machine}
"""

_MOLECULES = """## Proteins and features

    python benchmarks/any_molecule.py --write docs/performance

Exact neighbours, {neighbors} of every frame or point, in one thread: seconds of the processor, with other
programs in the same run. Cells and tiles are the two ways between which the search chooses; each was timed on
a part of the queries. *by md.rmsd*: all pairs, from 100 queries. hnswlib gets coordinates that were
superposed on the first frame. villin: 36 C-alpha atoms of a model of villin headpiece, partly unfolded; bpti:
58 of a simulation of BPTI; kinase: 214 of a random compact chain with two hinges; features: points in wells.

{table}

{machine}
"""

_DASK = """## On a Dask cluster

    python benchmarks/dask_scaling.py --write docs/performance

{frames:,} frames, {neighbors} neighbours, on threads of one process and on as many worker processes of one
thread. *Overhead* is what Dask takes beyond the threads, the way of the index to the workers included
({goal}). Starting the cluster took {start:.1f} s, loading the kernels in its
workers {kernels:.1f} s; these are not part of it. *Sharded* is for frames that do not fit on a worker.

{table}

A worker killed in the middle of a search on two workers:

```text
{log}
```

What more frames would take. The time of a query grows as the number of frames to the power {power:.2f}, as
between the two largest sizes above; shards cost {shard_cost:.1f} times as much as one index, as measured with
{cost_shards} of {cost_frames:,} frames; graph and memberships are those of the whole way, {threads} threads,
in proportion to the frames. Nobody has run these.

<!-- forecast -->

{forecast}

<!-- end of the forecast -->

{machine}
"""

_CORE = """## From neighbours to memberships

    python benchmarks/core.py --frames {frames} --data ../shared/data/ala2 --write docs/performance

{frames:,} frames, k = {k}, threads: {threads}.{peers}

{table}

{machine}
"""


def peers_text(found: dict) -> str:
    """Tell what other programs do with the same frames."""
    return _fill(_PEERS, found, table=peers.table(found))


def headline_text(found: dict) -> str:
    """Tell what every step of the whole run takes."""
    sizes = ", ".join(f"{size:,}" for size in found["basins"])
    return _fill(
        _HEADLINE, found | {"sizes": sizes}, goals=headline.goals(found), table=headline.table(found)
    )


def sampling_text(found: dict) -> str:
    """Tell how far memberships by extension are from those of a fit of all frames."""
    return _fill(_SAMPLING, found, table=sampling.table(found))


def ten_million_text(found: dict) -> str:
    """Tell what every step takes with more frames than are fitted."""
    words = {"fit_frames": found["fit frames"], "features": found["features"] or "RMSD"}
    return _fill(_TEN_MILLION, found | words, table=headline.table(found))


def growth_text(found: dict) -> str:
    """Tell how time and memory grow with the number of frames."""
    return _fill(_GROWTH, found["runs"][-1], table=growth.table(found["runs"]))


def neighbors_text(found: dict) -> str:
    """Tell how the search for neighbours compares with comparing all pairs."""
    results = found["results"]
    names = sorted(
        set(results[0]) - {"frames"},
        key=lambda name: (not name.startswith("times"), name.startswith("with"), name),
    )
    heads = " | ".join(f"{int(result['frames']):,} frames" for result in results)
    lines = [f"| | {heads} |", "|---|" + "--:|" * len(results)]
    for name in names:
        lines.append(f"| {name} | " + " | ".join(_number(result[name]) for result in results) + " |")
    return _fill(_NEIGHBORS, found, table=lines, peers=_other_programs(found))


def molecules_text(found: dict) -> str:
    """Tell how long the search takes for molecules of many kinds and for features."""
    lines = []
    for dimension in ("atoms", "dimensions"):
        results = [each for each in found["results"] if dimension in each]
        heads = [f"{each['data']}: {each['frames']:,}, {each[dimension]} {dimension}" for each in results]
        if not results:
            continue
        lines += ["| | " + " | ".join(heads) + " |", "|---|" + "--:|" * len(results)]
        names = [name for each in results for name in each if name not in ("data", "frames", dimension)]
        for name in dict.fromkeys(names):
            cells = [_number(each[name]) if name in each else "" for each in results]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines.append("")
    return _fill(_MOLECULES, found, table=lines)


def _other_programs(found: dict) -> list[str]:
    """Say how long other programs took for the same neighbours, and how many of them they found."""
    if not found.get("peers"):
        return []
    frames = found["frames of peers"]
    ours = next(result for result in found["results"] if result["frames"] == frames)
    lines = [
        f"What else one might use, for the same neighbours of {frames:,} frames:", "",
        "| | seconds | recall | its time over ours |", "|---|--:|--:|--:|",
        f"| mdfuzzy, exact | {ours['seconds']:.1f} | {ours['recall']:.3g} | 1 |",
    ]  # fmt: skip
    for peer in found["peers"]:
        late = peer["seconds"] is None
        seconds = peer["limit"] if late else peer["seconds"]
        cells = (
            f"more than {seconds:.0f}" if late else f"{seconds:.1f}",
            "none" if late else f"{peer['recall']:.3f}",
            f"{'more than ' if late else ''}{seconds / ours['seconds']:.1f}",
        )
        lines.append(f"| {peer['program']} | {' | '.join(cells)} |")
    return lines


def dask_text(found: dict) -> str:
    """Tell what Dask costs, and what more frames would take."""
    last, forecasts = found["runs"][-1], found["forecasts"]
    words = {name: last[name] for name in ("start", "kernels")} | found["shards"]
    words |= {name: forecasts[0][name] for name in ("power", "threads")}
    tables = {"table": dask_forecast.table(found), "forecast": dask_forecast.forecast_table(forecasts)}
    return _fill(_DASK, found | words, log=found["killed"]["log"], goal=[dask_forecast.goal(found)], **tables)


def _number(value: float) -> str:
    """Write a number with three digits, or all of those before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def core_text(found: dict) -> str:
    """Tell how the steps from neighbours to memberships compare with their peers, if these were measured."""
    if all(step["peer_seconds"] is None for step in found["steps"]):
        lines = ["| step | seconds | peak memory |", "|---|--:|--:|"]
        for step in found["steps"]:
            lines.append(f"| {step['name']} | {step['seconds']:.2f} | {step['memory']:.2f} GB |")
        return _fill(_CORE, found | {"peers": ""}, table=lines)
    lines = [
        "| step | times ours | seconds | peak memory | peer's seconds | peer |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for step in found["steps"]:
        ours, theirs = step["seconds"], step["peer_seconds"]
        ratio, seconds = ("", "") if theirs is None else (f"{theirs / ours:.1f}", f"{theirs:.2f}")
        lines.append(
            f"| {step['name']} | {ratio} | {ours:.2f} | {step['memory']:.2f} GB | {seconds} "
            f"| {step.get('verdict', '')} |"
        )
    return _fill(_CORE, found | {"peers": " The peers use one thread."}, table=lines)


def _fill(template: str, found: dict, **tables: list[str]) -> str:
    texts = {name: "\n".join(lines) for name, lines in tables.items()}
    return template.format(
        **found | {"machine": f"*Measured on* {describe_machine(found['machine'])}"} | texts
    )


#: In the order of the page: the name of the result and what tells it.
PARTS = {
    "peers": peers_text,
    "headline": headline_text,
    "sampling": sampling_text,
    "ten_million": ten_million_text,
    "growth": growth_text,
    "neighbors": neighbors_text,
    "molecules": molecules_text,
    "dask": dask_text,
    "core": core_text,
}


def write_result(folder: Path, name: str, found: dict) -> None:
    """Keep the result of a benchmark, and make the page anew."""
    save_result(folder, name, found)
    print(write_page(folder))


def write_page(folder: Path) -> Path:
    """Write index.md from the results that are there."""
    return save_page(folder, _HEAD, PARTS)


def main() -> None:
    """Make the page anew."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    print(write_page(parser.parse_args().folder))


if __name__ == "__main__":
    main()
