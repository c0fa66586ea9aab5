"""Structures to start new simulations from."""

import csv
import io
import os
from pathlib import Path
from typing import Literal

import numpy as np

from mdfuzzy._atomic import new_files
from mdfuzzy._check import InputValueError, check_choice, check_type
from mdfuzzy.frames.velocities import read_velocities
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.seeds import Seeds


def write_seeds(
    folder: str | os.PathLike[str],
    result: Clustering,
    seeds: Seeds,
    *,
    format: Literal["gro", "pdb"] = "gro",
) -> list[Path]:
    """Write the structure of each seed with all atoms of the trajectory files, and a table of the reasons.

    Parameters
    ----------
    folder : path
        The folder; it is created if necessary. Earlier files of this function are replaced.
    result : Clustering
        The clustering from which the seeds were chosen.
    seeds : Seeds
        The seeds from `suggest_seeds`.
    format : {"gro", "pdb"}
        The format of the structures, with the box if the files have one. GRO files also contain the
        velocities if the trajectory files do (TRR, GRO, HDF5 of mdtraj, NetCDF of AMBER, and universes of
        MDAnalysis). PDB files have no velocities.

    Returns
    -------
    list of Path
        ``seeds.csv``, then ``seed-01.gro`` and so on, in the order of the ranks.

    Raises
    ------
    ValueError
        If the frames have no structures.

    See Also
    --------
    suggest_seeds : Choose seeds.

    Examples
    --------
    >>> import tempfile, mdfuzzy as mf
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=20), mf.Settings(n_states=4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = mf.exports.write_seeds(folder, result, mf.suggest_seeds(result, n=2))
    >>> [path.name for path in paths]
    ['seeds.csv', 'seed-01.gro', 'seed-02.gro']
    """
    check_type("result", result, Clustering, remedy="`cluster` makes it.")
    check_type("seeds", seeds, Seeds, remedy="`suggest_seeds` makes it.")
    check_choice("format", format, ("gro", "pdb"))
    data = result.data
    if data is None or not data.has_structures:
        raise InputValueError(
            "`result` must be of frames with structures, loaded with a topology; got data without. Take the "
            "frame numbers from `seeds.frames`."
        )
    atoms: Literal["all", "loaded"] = "all" if data.sources else "loaded"
    structures = data.trajectory(seeds.frames, atoms=atoms)
    velocities = read_velocities(data, seeds.frames) if format == "gro" else None
    names = [f"seed-{rank + 1:02d}.{format}" for rank in range(len(seeds))]
    rows: list[list[object]] = [
        ["file", "frame", "trajectory", "frame_in_trajectory", "state", "score", "reason"]
    ]
    for name, frame, state, score, reason in zip(
        names, seeds.frames.tolist(), seeds.states.tolist(), seeds.scores.tolist(), seeds.reasons, strict=True
    ):
        rows.append([name, frame, *data.locate(frame), state, f"{score:.4g}", reason])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    with new_files(folder, "seeds", overwrite=True) as stage:
        (stage / "seeds.csv").write_text(text.getvalue(), encoding="utf-8")
        for rank, name in enumerate(names):
            structures[rank].save(str(stage / name))
            if velocities is not None:
                _add_velocities(stage / name, velocities[rank])
    return [Path(folder) / name for name in ("seeds.csv", *names)]


def _add_velocities(path: Path, velocities: np.ndarray) -> None:
    """Write velocities, (atoms, 3) in nm/ps, behind the positions in a GRO file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for atom, (x, y, z) in enumerate(velocities.tolist()):
        lines[2 + atom] += f"{x:8.4f}{y:8.4f}{z:8.4f}"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
