"""Structures to start new simulations from."""

import csv
import io
import os
from pathlib import Path
from typing import Literal

from mdfuzzy._atomic import new_files
from mdfuzzy._check import InputValueError, check_choice, check_type
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
        The format of the structures, with the box if the files have one. Velocities are not written: draw new
        ones.

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
    return [Path(folder) / name for name in ("seeds.csv", *names)]
