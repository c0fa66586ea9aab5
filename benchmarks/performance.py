"""Write the page about performance from the latest results of the other benchmarks.

    python benchmarks/performance.py docs/performance

headline.py, sampling.py, growth.py, peers.py, neighbors.py, symmetric.py, dask_scaling.py and core.py write
their results to this folder with --write, and update the page.
"""

import argparse
import math
from pathlib import Path

import dask_forecast
import dask_whole
import growth
import headline
import peers
import sampling
import symmetric
from measuring import describe_machine
from pages import save_page, save_result

_HEAD = """# Performance

<!-- Made by benchmarks/performance.py from the JSON files beside this page; changes here are lost. -->

Times depend on the machine and its load, so the tables give ratios first. All programs of a table were
measured in the same run, on the same frames and cores. Each section starts with the command that repeats it.
"""


_PEERS = """## Other programs on the same frames

    python benchmarks/peers.py --frames {frames} --limit {limit:.0f}

*Relative time* is the time of a program divided by the time of mdfuzzy for the complete analysis from frames
to memberships. GUDHI uses our graph, so its time is divided by the time of mdfuzzy for the same step. The
data are {frames:,} frames of alanine dipeptide; threads: {threads}; time limit: {limit:.0f} s for each
program. PyEMMA requires a distance, and MDScan the size of a neighbourhood and of the smallest cluster.
cpptraj gets the number of states that mdfuzzy found; it compares all pairs of a subset of the frames and
assigns the others to the nearest cluster. *Pure* is the fraction of frames that are in the most frequent
state of their cluster.

{table}

{machine}
"""

_HEADLINE = """## Complete analysis of {frames:,} frames

    python benchmarks/headline.py

This is the time of `mdfuzzy run` with default settings, from XTC files to memberships, pictures, files for
other programs and the report. It finds {states} states with {sizes} frames; transition regions:
{transition_regions}; {megabytes:,.0f} MB of results on disk; threads: {threads}. If other programs use the
same processor, processor times are more reliable than wall times.

{goals}

{table}

{machine}
"""

_BEFORE = """### The previous version

The same frames with mdfuzzy {version} took {seconds:.0f} s ({processor:.0f} s of processor time) and
{memory:.1f} GB of memory; the search for neighbours took {neighbours:.0f} s, and the memberships
{solve:.0f} s and {solve_memory:.1f} GB. That version did not write trajectories of the states, and had no
tree of states.

{machine}
"""

_SAMPLING = """## States found on a subset of the frames

    {command}

The data are {frames:,} frames of alanine dipeptide. A fit of all frames finds {states} states; it is compared
with fits of subsets whose memberships are extended to all frames (`--fit-frames`). The difference between two
memberships of a frame is half of the sum of the absolute differences over the states. The table gives its
mean and its 99th percentile. *True* is the difference from the fit of all frames. The other numbers are
measured in the run itself. *With twice the frames* compares the fit of the sample with a fit of the sample
and as many other frames, in these other frames. *With half* compares the fit of the sample with a fit of half
of it. *Expected*, which the run prints as a bound, is the larger of these two differences, times the number
of doublings from the sample to all frames.

{table}

{machine}
"""

_DASK_WHOLE = """## Whole runs on a Dask cluster

    python benchmarks/dask_whole.py --frames {part} --write docs/performance

{frames:,} frames in {files} files, the states found on {fit_frames:,} of them by RMSD; the runs
used one process with one thread, or local workers with one thread each. The client and the workers shared two
cores with other programs. Frames are assigned in chunks of 32,768. In the last run, one of two workers was
killed.

{table}

The forecast for 100 million frames is computed from measured numbers. The processor times per frame
for reading, assigning and exports are from the run with {rmsd_frames:,} frames above. The time to assign a
frame is scaled with the number of fitted frames to the power {power:.2f}, as the time of a query in the
search. (Frames of a simulation take less time than these perturbed frames.) The fits are scaled from the
complete analysis, with the number of frames. Memory and disk of the client are scaled from the run with
{many_frames:,} frames. A run of this size has not been made.

<!-- forecast of a sample -->

{forecast}

<!-- end of the forecast of a sample -->

{machine}
"""

_DASK_FEATURES = """## Whole runs on a Dask cluster, by {features}

    python benchmarks/dask_whole.py --frames {part} --fit-frames {fit_frames} --features {features} \\
        --kill 20 --write docs/performance

The same for {frames:,} frames, compared by {features}, with the states found on {fit_frames:,}. With so many
frames, trajectories of the states are written on demand only. Other programs used the same processor.

{table}

{machine}
"""

_TEN_MILLION = """## {frames:,} frames, compared by {features}

    python benchmarks/headline.py {options} --fit-frames {fit_frames}

This test measures only throughput and memory. The data are seven copies of {part} of the complete
analysis above, each perturbed by an RMSD of 0.02 nm. The frames are compared by
{features}; the states are found on {fit_frames:,} frames. Other programs used the same processor, so
processor times are more reliable than wall times.

{table}

{machine}
"""

_GROWTH = """## Growth with the number of frames

    python benchmarks/growth.py

Each size runs in separate processes; threads: {threads}. The memory is the peak of the first run. The time of
each step is the shortest in {repeats} further runs, whose processes have allocated their memory beforehand.
(A virtual machine may take seconds for every GB that it requests from its host, as in the complete analysis
above.) An exponent e means that the time grows as the number of frames to the power e. It is fitted to the
wall times of all sizes, to the wall times of the two largest sizes, and to the user times of the processor; n
log n corresponds to about 1.08. The number of neighbours in the graph, k, grows as the logarithm of the
number of frames, and so does the number of edges per frame. So a step with constant time per edge grows as n
log n. *Share of the system* is the fraction of the processor time, with all frames, that the operating system
spends on allocating memory or writing files.

![time and memory against frames](growth.svg)

{table}

{machine}
"""

_NEIGHBORS = """## Neighbour search

    python benchmarks/neighbors.py --frames 50000 142074 400000 1420738 --peers 142074 \\
        --plot docs/performance/neighbors.svg --write docs/performance

The search finds the exact {neighbors} nearest neighbours of every frame by RMSD. *Times md.rmsd* is the time
of mdtraj for comparing all pairs, divided by the time of the search. *Times vectorised kernel* is the time of
the package's own vectorised kernel for comparing all pairs, divided by the time of the search.

{table}

![seconds against frames, on log axes](neighbors.svg)

{peers}

{machine}
"""

_STATE = """## Exact search compared with an earlier state

    python benchmarks/before.py --other OTHER/bin/python --state {state} --write docs/performance

The exact search for {neighbors} neighbours in alanine dipeptide against commit {state}, in turn, each in a
process of its own. Times are processor times of one thread, medians in seconds. A run directory keeps {spare}
spare neighbours, with which data can grow; *with spare neighbours* is a search for these as well.

{table}

{machine}
"""

_MOLECULES = """## Proteins and features

    python benchmarks/any_molecule.py --write docs/performance

The search finds the exact {neighbors} nearest neighbours of every frame or point, in one thread. Times are
processor times in seconds. The times within a column were measured in the same run; different columns may
come from different runs. Cells and tiles are the two methods between which the search chooses. With up to
10,000 frames, the times are medians of five whole searches in turn; *times the better of the two* is the time
of the search divided by the time of the faster method, which shows the cost of choosing. With more frames,
cells and tiles were timed on a subset of the queries. *By md.rmsd* is the time for comparing all pairs. The
times of md.rmsd and scikit-learn are extrapolated from 100 queries. hnswlib gets coordinates superposed on
the first frame.{walls}{growth} The data are: villin, 36 C-alpha atoms of a model of
villin headpiece, partly unfolded, beyond 60,000 frames with copies perturbed by 0.02 nm; bpti, 58 C-alpha
atoms of a simulation of BPTI; kinase, 214 C-alpha atoms of a random compact chain with two hinges; features,
points in wells.

{table}

{machine}
"""

_SYMMETRIC = """## Poses and symmetry-equivalent atoms

    python benchmarks/symmetric.py --write docs/performance

The data are poses of benzamidine in trypsin: 10,000 frames, aligned on the protein. 460 of them have labels
of five published states. *Agreement* is the adjusted mutual information between states and labels. Without
equivalent atoms, a turn of the ring by 180 degrees divides the crystal pose:

{table}

On {pairs:,} pairs of frames of Ala-Phe-Val, the RMSD with equivalent atoms differs from the
symmetry-corrected RMSD of cpptraj by {median:.5f} nm in the median and by {largest:.5f} nm at most.

{machine}
"""

_DASK = """## On a Dask cluster

    python benchmarks/dask_scaling.py --write docs/performance

The search for {neighbors} neighbours of {frames:,} frames is timed on the threads of one process, and on the
same number of worker processes with one thread each. *Overhead* is the additional time with Dask, including
the transfer of the index to the workers ({goal}). It does not include {start:.1f} s for starting the cluster
and {kernels:.1f} s for loading the kernels in its workers. The *sharded* layout is for frames that do not fit
on a worker.

{table}

A worker killed in the middle of a search on two workers:

```text
{log}
```

The forecast for more frames assumes that the time of a query grows as the number of frames to the power
{power:.2f}, as between the two largest sizes above. Shards cost {shard_cost:.1f} times as much as one index,
as measured with {cost_shards} shards of {cost_frames:,} frames. The numbers for graph and memberships are
from the complete analysis ({threads} threads), scaled with the number of frames. These sizes have not
been run.

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
    """Describe the results of other programs on the same frames."""
    return _fill(_PEERS, found, table=peers.table(found))


def headline_text(found: dict) -> str:
    """Describe the time and memory of every step of a complete run."""
    sizes = ", ".join(f"{size:,}" for size in found["basins"])
    return _fill(
        _HEADLINE, found | {"sizes": sizes}, goals=headline.goals(found), table=headline.table(found)
    )


def before_text(found: dict) -> str:
    """Describe the complete run of an earlier version."""
    steps = {step["name"]: step for step in found["steps"]}
    words = {
        "version": found["machine"]["versions"]["mdfuzzy"],
        "seconds": headline.seconds(found),
        "processor": sum(step["processor"] + step["system"] for step in found["steps"]),
        "memory": max(step["memory"] for step in found["steps"]),
        "neighbours": steps["neighbours"]["seconds"],
        "solve": steps["memberships"]["seconds"],
        "solve_memory": steps["memberships"]["memory"],
    }
    return _fill(_BEFORE, found | words)


def sampling_text(found: dict) -> str:
    """Describe how extended memberships differ from those of a fit of all frames."""
    command = f"python benchmarks/sampling.py --frames {found['frames']} --write docs/performance"
    return _fill(_SAMPLING, found | {"command": command}, table=sampling.table(found))


def sampling_of_run_text(found: dict) -> str:
    """Describe the same for the frames of the complete run."""
    shares = " ".join(f"{row['share']:g}" for row in found["samples"])
    lines = [
        f"## States found on a subset of {found['frames']:,} frames",
        "",
        f"    python benchmarks/sampling.py --run RUN --shares {shares} --write docs/performance",
        "",
        "The same comparison for the frames of the complete analysis (`headline.py --keep RUN` keeps RUN). "
        "The",
        f"fit of all frames finds {found['states']} states.",
        "",
    ]
    return _fill("{table}\n\n{machine}\n", found, table=[*lines, *sampling.table(found)])


def ten_million_text(found: dict) -> str:
    """Describe the time of every step with more frames than are fitted."""
    features, n = found["features"], found["frames"] // 7
    words = {
        "fit_frames": found["fit frames"],
        "features": features or "RMSD",
        "options": f"--copies 7 --features {features}" if features else f"--frames {n} --copies 7",
        "part": "every frame" if n >= headline.FULL else f"{n:,} evenly spaced frames",
    }
    return _fill(_TEN_MILLION, found | words, table=headline.table(found))


def dask_whole_text(found: dict) -> str:
    """Describe whole runs on a cluster."""
    known = found["forecast"]
    words = {"fit_frames": found["fit frames"], "power": known["power"], "part": found["frames"] // 7}
    words |= {"rmsd_frames": known["frames of the run by RMSD"], "many_frames": known["frames of the run"]}
    forecast = dask_forecast.sampled_table(known)
    return _fill(_DASK_WHOLE, found | words, table=dask_whole.table(found), forecast=forecast)


def dask_features_text(found: dict) -> str:
    """Describe whole runs on a cluster with features."""
    words = {"fit_frames": found["fit frames"], "part": found["frames"] // 7}
    return _fill(_DASK_FEATURES, found | words, table=dask_whole.table(found))


def growth_text(found: dict) -> str:
    """Describe how time and memory grow with the number of frames."""
    return _fill(_GROWTH, found["runs"][-1], table=growth.table(found["runs"]))


def neighbors_text(found: dict) -> str:
    """Describe how the search for neighbours compares with comparing all pairs."""
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


def state_text(found: dict) -> str:
    """Describe how long the exact search takes relative to an earlier state of the package."""
    results = found["results"]
    names = dict.fromkeys(name for result in results for name in result if name != "frames")
    lines = ["| | " + " | ".join(f"{result['frames']:,} frames" for result in results) + " |"]
    lines.append("|---|" + "--:|" * len(results))
    for name in names:
        lines.append(f"| {name} | " + " | ".join(_cell(result.get(name, "")) for result in results) + " |")
    return _fill(_STATE, found, table=lines)


def _cell(value: float | str) -> str:
    return value if isinstance(value, str) else _number(value)


def molecules_text(found: dict) -> str:
    """Describe how long the search takes for molecules of many kinds and for features."""
    lines = []
    for dimension in ("atoms", "dimensions"):
        results = [each for each in found["results"] if dimension in each]
        if dimension == "dimensions":
            results.sort(key=lambda each: (each["frames"], each["dimensions"]))
        heads = [f"{each['data']}: {each['frames']:,}, {each[dimension]} {dimension}" for each in results]
        if not results:
            continue
        lines += ["| | " + " | ".join(heads) + " |", "|---|" + "--:|" * len(results)]
        names = [name for each in results for name in each if name not in ("data", "frames", dimension)]
        for name in dict.fromkeys(names):
            cells = [_number(each[name]) if name in each else "" for each in results]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines.append("")
    walls = (
        " The *wall time* of two threads is relative to that of one thread: the median of three searches in"
        " turn, each in a separate process."
    )
    known = any(name.startswith("wall time") for each in found["results"] for name in each)
    words = {"growth": _growth_of_villin(found["results"]), "walls": walls if known else ""}
    return _fill(_MOLECULES, found | words, table=lines)


def _growth_of_villin(results: list[dict]) -> str:
    """Say how the time grows from the smallest to the largest number of frames of villin; empty for one."""
    villin = sorted((each for each in results if each["data"] == "villin"), key=lambda each: each["frames"])
    if len(villin) < 2:
        return ""

    def power(name: str) -> float:
        known = [each for each in villin if name in each]
        growth = math.log(known[-1][name] / known[0][name])
        return growth / math.log(known[-1]["frames"] / known[0]["frames"])

    exact, less = power("seconds"), power("seconds with recall=0.95")
    return (
        f" For villin, the time grows as the number of frames to the power {exact:.2f}, and to the power"
        f" {less:.2f} with recall 0.95."
    )


def symmetric_text(found: dict) -> str:
    """Describe what equivalent atoms change, and the differences from cpptraj."""
    return _fill(_SYMMETRIC, found | found["distances"], table=symmetric.table(found["poses"]))


def _other_programs(found: dict) -> list[str]:
    """Say how long other programs took for the same neighbours, and how many of them they found."""
    if not found.get("peers"):
        return []
    frames = found["frames of peers"]
    ours = next(result for result in found["results"] if result["frames"] == frames)
    lines = [
        f"Alternatives for the same neighbours of {frames:,} frames:", "",
        "| program | seconds | recall | relative time |", "|---|--:|--:|--:|",
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
    """Describe the overhead of Dask, and a forecast for more frames."""
    last, forecasts = found["runs"][-1], found["forecasts"]
    words = {name: last[name] for name in ("start", "kernels")} | found["shards"]
    words |= {name: forecasts[0][name] for name in ("power", "threads")}
    tables = {"table": dask_forecast.table(found), "forecast": dask_forecast.forecast_table(forecasts)}
    return _fill(_DASK, found | words, log=found["killed"]["log"], goal=[dask_forecast.goal(found)], **tables)


def _number(value: float) -> str:
    """Write a number with three digits, or all of those before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def core_text(found: dict) -> str:
    """Describe how the steps from neighbours to memberships compare with their peers, if measured."""
    if all(step["peer_seconds"] is None for step in found["steps"]):
        lines = ["| step | seconds | peak memory |", "|---|--:|--:|"]
        for step in found["steps"]:
            lines.append(f"| {step['name']} | {step['seconds']:.2f} | {step['memory']:.2f} GB |")
        return _fill(_CORE, found | {"peers": ""}, table=lines)
    lines = [
        "| step | peer's time relative to ours | seconds | peak memory | peer's seconds | peer |",
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


#: In the order of the page: the name of each result and the function that describes it.
PARTS = {
    "peers": peers_text,
    "headline": headline_text,
    "headline_01": before_text,
    "sampling": sampling_text,
    "sampling_of_run": sampling_of_run_text,
    "ten_million": ten_million_text,
    "by_rmsd": ten_million_text,
    "growth": growth_text,
    "neighbors": neighbors_text,
    "before": state_text,
    "molecules": molecules_text,
    "symmetric": symmetric_text,
    "dask": dask_text,
    "dask_whole": dask_whole_text,
    "dask_features": dask_features_text,
    "core": core_text,
}


def write_result(folder: Path, name: str, found: dict) -> None:
    """Save the result of a benchmark, and update the page."""
    save_result(folder, name, found)
    print(write_page(folder))


def write_page(folder: Path) -> Path:
    """Write index.md from the available results."""
    return save_page(folder, _HEAD, PARTS)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    print(write_page(parser.parse_args().folder))


if __name__ == "__main__":
    main()
