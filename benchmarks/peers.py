"""What else one would use on the same frames, what it gives and what it costs, in one run.

    python benchmarks/peers.py --frames 20000
    python benchmarks/peers.py --frames 142074 --limit 1800 --write docs/performance

GUDHI's Tomato gets our graph and density. The others run in environments of their own, because they need
other versions of Python or numpy. They are found by their Pythons, and left out, with a word, without one:

    MDFUZZY_PYEMMA_PYTHON   PyEMMA 2.5: bash .ci/pyemma FOLDER
    MDFUZZY_MDSCAN_PYTHON   pip install numpy numba mdtraj numpy_indexed pandas; pip install --no-deps mdscan
    MDFUZZY_PYTRAJ_PYTHON   Python 3.7: pip install 'numpy<1.22' pytraj (2.0.5 has cpptraj 4.26 in it)

Every program is stopped after --limit seconds.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from measuring import describe_machine, machine, peak_memory, reset_peak
from shared_data import DATA, load_frames

import mdfuzzy as mf
from mdfuzzy._threads import thread_count

#: Largest distance of a frame from its centre, nm: PyEMMA's regular-space clustering needs one.
SPACING = 0.05
#: Of so many frames cpptraj compares all pairs; it puts the others where they are nearest.
COMPARED = 5_000
#: How often a short step and its peer are measured; the median counts.
REPEATS = 3
#: MDScan uses a name that numpy has given up.
_MDSCAN = "import numpy, runpy; numpy.int = int; runpy.run_module('mdscan', run_name='__main__')"


@dataclass
class Peer:
    """A line of the table."""

    program: str
    gives: str
    seconds: float | None = None
    memory: float | None = None  # peak, GB
    result: str = ""
    ratio: float | None = None  # its time over ours for the same thing


def cluster(frames: mf.Frames) -> tuple[mf.Clustering, Peer]:
    """Find states and memberships with mdfuzzy."""
    mf.cluster(mf.datasets.alanine_dipeptide(stride=50), mf.Settings(prominence=1.0))  # compiled by now
    reset_peak()
    start = time.perf_counter()
    result = mf.cluster(frames, progress=False)
    seconds = time.perf_counter() - start
    words = (
        f"{result.n_states} states, {len(result.transition_regions)} transition regions, no parameter given"
    )
    gives = "states, their cores, a membership of every frame in every state, transition frames"
    return result, Peer("mdfuzzy", gives, seconds, peak_memory(), words, 1.0)


def tomato(result: mf.Clustering) -> Peer:
    """Run GUDHI's Tomato on our graph and density, and compare the clusters."""
    from gudhi.clustering.tomato import Tomato

    graph, log_density, prominence = result.graph, result.log_density, result.prominence
    # The higher neighbours first: where a frame joins three components, GUDHI lets the first in its list win.
    rows = [row[np.argsort(-log_density[row])] for row in np.split(graph.indices, graph.indptr[1:-1])]
    times = []
    for _ in range(REPEATS):  # in turn
        start = time.perf_counter()
        theirs = Tomato(graph_type="manual", density_type="manual", merge_threshold=prominence)
        theirs.fit(rows, weights=log_density)
        between = time.perf_counter()
        ours = mf.compute_persistence(graph, log_density).labels(prominence)
        times.append((between - start, time.perf_counter() - between))
    seconds, our_seconds = np.median(times, axis=0).tolist()
    same = "the same clusters" if same_partition(ours, theirs.labels_) else "OTHER CLUSTERS"
    words = f"{theirs.n_clusters_} clusters, {same}; ours for this step: {our_seconds:.2f} s"
    gives = "hard clusters, from our neighbours and density"
    return Peer("GUDHI Tomato, our graph", gives, seconds, None, words, seconds / our_seconds)


def same_partition(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two labellings are the same up to names."""
    pairs = np.unique(np.column_stack([first, second]), axis=0)
    return len(pairs) == len(np.unique(first)) == len(np.unique(second))


def regular_space(frames: mf.Frames, result: mf.Clustering, our_seconds: float, limit: float) -> Peer:
    """Run PyEMMA's regular-space clustering by minimal RMSD in its own environment."""
    peer = Peer("PyEMMA, regular space, minRMSD", "small hard clusters, for a Markov model to lump")
    python = os.environ.get("MDFUZZY_PYEMMA_PYTHON")
    if python is None:
        peer.result = "not run: MDFUZZY_PYEMMA_PYTHON is not set"
        return peer
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "frames.npy", frames.xyz.reshape(len(frames), -1))
        (folder / "pyemma.cfg").write_text("[pyemma]\ncheck_version = False\nshow_progress_bars = False\n")
        script = Path(__file__).parent / "peer_programs" / "regular_space.py"
        command = [python, script, folder / "frames.npy", str(SPACING), "20000", folder / "result.npz"]
        settings = {"PYEMMA_CFG_DIR": name, "PYEMMA_NJOBS": str(thread_count(None)), "PYTHONPATH": ""}
        _, peer.memory, ended = run_limited(command, limit, settings)
        if ended != 0:
            return _stopped(peer, ended, limit)
        found = np.load(folder / "result.npz")
        peer.seconds = float(found["seconds"])
        share = mf.purity(found["labels"], result.memberships.hard)
        peer.result = f"{found['centres']} clusters of {SPACING} nm, {share:.1%} pure in our states"
    peer.ratio = peer.seconds / our_seconds
    return peer


def mdscan(frames: mf.Frames, result: mf.Clustering, our_seconds: float, limit: float) -> Peer:
    """Run MDScan, HDBSCAN by RMSD, in its own environment."""
    peer = Peer("MDScan (HDBSCAN by RMSD)", "hard clusters and noise")
    python = os.environ.get("MDFUZZY_MDSCAN_PYTHON")
    if python is None:
        peer.result = "not run: MDFUZZY_MDSCAN_PYTHON is not set"
        return peer
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_dcd(frames, folder)
        smallest = str(2 * result.k)  # clusters as small as our density can see
        command = [python, "-c", _MDSCAN, "-traj", folder / "frames.dcd", "-top", folder / "top.pdb"]
        command += ["-min_samples", str(result.k), "-min_clust_size", smallest, "-odir", folder / "out"]
        settings = {"PYTHONPATH": "", "OMP_NUM_THREADS": str(thread_count(None))}
        peer.seconds, peer.memory, ended = run_limited(command, limit, settings)
        if ended != 0:
            return _stopped(peer, ended, limit)
        labels = read_clusters(folder / "out" / "top.log", len(frames))
    noise = np.mean(labels < 0)
    share = mf.purity(labels[labels >= 0], result.memberships.hard[labels >= 0])
    clusters = len(np.unique(labels[labels >= 0]))
    peer.result = f"{clusters} clusters, {share:.1%} pure in our states, and {noise:.0%} of frames as noise"
    peer.ratio = peer.seconds / our_seconds
    return peer


def read_clusters(log: Path, n: int) -> np.ndarray:
    """Return the cluster of every frame, -1 for noise, from MDScan's list for VMD."""
    found = re.findall(r"^(-?\d+):\nMembers: ([\d ]+)$", log.read_text(), re.MULTILINE)
    members = [np.array(listed.split(), dtype=np.int64) for _, listed in found]
    rows = np.concatenate(members)
    if len(rows) != n or rows.max() - rows.min() != n - 1:
        raise ValueError(f"{log} must list each of {n} frames once; it lists {len(rows)}.")
    labels = np.empty(n, np.int64)
    numbers = [int(number) for number, _ in found]
    labels[rows - rows.min()] = np.repeat(numbers, [len(each) for each in members])  # VMD counts from 1 or 2
    return labels


def cpptraj(frames: mf.Frames, result: mf.Clustering, our_seconds: float, limit: float) -> Peer:
    """Run cpptraj's hierarchical clustering by RMSD, told our number of states, in pytraj's environment."""
    peer = Peer("cpptraj, average linkage", "a given number of hard clusters")
    python = os.environ.get("MDFUZZY_PYTRAJ_PYTHON")
    if python is None:
        peer.result = "not run: MDFUZZY_PYTRAJ_PYTHON is not set"
        return peer
    sieve = -(-len(frames) // COMPARED)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_dcd(frames, folder)
        script = Path(__file__).parent / "peer_programs" / "average_linkage.py"
        command = [python, script, folder / "top.pdb", folder / "frames.dcd", str(result.n_states)]
        command += [str(sieve), folder / "result.npz"]
        settings = {"PYTHONPATH": "", "OMP_NUM_THREADS": str(thread_count(None))}
        _, peer.memory, ended = run_limited(command, limit, settings)
        if ended != 0:
            return _stopped(peer, ended, limit)
        found = np.load(folder / "result.npz")
        peer.seconds, labels = float(found["seconds"]), found["labels"]
    share = mf.purity(labels, result.memberships.hard)
    compared = len(range(0, len(frames), sieve))
    peer.result = (
        f"{len(np.unique(labels))} clusters, {share:.1%} pure in our states, from {compared:,} frames"
    )
    peer.ratio = peer.seconds / our_seconds
    return peer


def write_dcd(frames: mf.Frames, folder: Path) -> None:
    """Write frames.dcd and top.pdb, for programs that read files."""
    import mdtraj as md

    trajectory = md.Trajectory(frames.xyz.copy(), frames.topology)
    trajectory.save(str(folder / "frames.dcd"))
    trajectory[0].save(str(folder / "top.pdb"))


def run_limited(
    command: list, limit: float, settings: dict[str, str]
) -> tuple[float, float | None, int | None]:
    """Run a program and return its seconds, its peak memory in GB, and its exit code (None: stopped)."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in command],
        env=os.environ | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    status, memory = Path(f"/proc/{process.pid}/status"), None
    while process.poll() is None and time.perf_counter() - start < limit:
        try:
            lines = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
            memory = int(lines[0].split()[1]) / 1e6 if lines else memory
        except OSError:  # it has just ended, or this system has no such file
            pass
        time.sleep(0.2)
    ended = process.poll()
    if ended is None:
        process.kill()
        process.wait()
    return time.perf_counter() - start, memory, ended


def peer_versions() -> dict[str, str]:
    """Return the versions of the programs that have environments of their own."""
    versions = {}
    for name in ("pyemma", "mdscan", "pytraj"):
        python = os.environ.get(f"MDFUZZY_{name.upper()}_PYTHON")
        if python is not None:
            command = [python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"]
            listed = subprocess.run(
                command, capture_output=True, check=True, env=os.environ | {"PYTHONPATH": ""}
            )
            versions |= {
                row["name"]: row["version"]
                for row in json.loads(listed.stdout)
                if row["name"].lower() == name
            }
    return versions


def _stopped(peer: Peer, ended: int | None, limit: float) -> Peer:
    peer.seconds = None
    peer.result = f"stopped after {limit:.0f} s" if ended is None else f"failed with exit code {ended}"
    return peer


def table(found: dict) -> list[str]:
    """Return the programs as lines of Markdown, the ratios first."""
    lines = [
        "| program | relative time | seconds | peak memory | gives | result |",
        "|---|--:|--:|--:|---|---|",
    ]
    for peer in found["peers"]:
        ratio = "" if peer["ratio"] is None else f"{peer['ratio']:.1f}"
        seconds = "" if peer["seconds"] is None else f"{peer['seconds']:.1f}"
        memory = "" if peer["memory"] is None else f"{peer['memory']:.2f} GB"
        lines.append(
            f"| {peer['program']} | {ratio} | {seconds} | {memory} | {peer['gives']} | {peer['result']} |"
        )
    return lines


def main() -> None:
    """Run all, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA / "ala2", metavar="FOLDER")
    parser.add_argument("--frames", type=int, default=20_000, help="how many, evenly spaced")
    parser.add_argument("--limit", type=float, default=600, help="seconds that a peer may take")
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    frames = load_frames(options.data, options.frames)
    result, ours = cluster(frames)
    peers = [
        ours,
        tomato(result),
        regular_space(frames, result, ours.seconds, options.limit),
        mdscan(frames, result, ours.seconds, options.limit),
        cpptraj(frames, result, ours.seconds, options.limit),
    ]
    found = {
        "frames": len(frames),
        "threads": thread_count(None),
        "limit": options.limit,
        "peers": [asdict(peer) for peer in peers],
        "machine": machine("gudhi"),
    }
    found["machine"]["versions"] |= peer_versions()
    print(f"{len(frames):,} frames; {describe_machine(found['machine'])}")
    print("\n".join(table(found)))
    if options.write is not None:
        from performance import write_result

        write_result(options.write, "peers", found)


if __name__ == "__main__":
    main()
