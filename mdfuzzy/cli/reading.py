"""Options for trajectory files, how they are read, and features; and the reading itself."""

import glob
import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from mdfuzzy.cli.options import Decorated, Option, Time, decorated
from mdfuzzy.features.featurizer import MAX_FEATURES

if TYPE_CHECKING:
    from mdfuzzy.frames.frames import Frames
    from mdfuzzy.frames.trajectories import Trajectories


def _one_or_all(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> Any:
    """Return a list if the option was given several times, else its only value, or None."""
    return list(values) if len(values) > 1 else next(iter(values), None)


def reading_options(command: Decorated) -> Decorated:
    """Give a command the trajectory files and how they are read: the arguments of `load`."""
    option = partial(click.option, cls=Option, section="Reading")
    return decorated(
        command,
        [
            click.argument("files", nargs=-1, required=True),
            option(
                "--top",
                metavar="FILE",
                help="Topology (PDB, GRO, ...), for formats that do not contain one.",
            ),
            option(
                "--atoms",
                metavar="SELECTION",
                help="Atoms to compare, as an mdtraj selection such as 'name CA'. Default: the solute's "
                "heavy "
                "atoms.",
            ),
            option(
                "--align",
                metavar="SELECTION",
                help="Superpose every frame on one structure by these atoms, and compare --atoms without "
                "further superposition, for example to compare poses of a ligand in its protein.",
            ),
            option(
                "--reference",
                metavar="FILE",
                help="Structure to align to (PDB, GRO, ...). Default: the first frame.",
            ),
            option(
                "--mass-weighted",
                is_flag=True,
                help="Weight atoms by their masses.",
            ),
            option(
                "--whole/--no-whole",
                default=None,
                help="Make molecules whole that are broken across periodic boundaries, or leave them broken. "
                "Default: make them whole if there are both a box and bonds.",
            ),
            option(
                "--symmetry",
                metavar="[rotations|graph|NAMES]",
                help="Minimise the RMSD over exchanges of symmetry-equivalent atoms. 'rotations' (or no "
                "value): "
                "exchanges that keep chirality, found from the bonds; 'graph': also the methyl groups "
                "of Val and Leu. NAMES: exchanges of atoms within a residue, such as 'C2 C6, C3 C5; N1 N2'.",
            ),
            option(
                "--stride",
                type=int,
                default=1,
                show_default=True,
                help="Read every Nth frame.",
            ),
            option(
                "--begin",
                type=Time(),
                help="Skip frames before this time, such as the equilibration: a number of ps, or 10ns.",
            ),
            option(
                "--end",
                type=Time(),
                help="Skip frames after this time: a number of ps, or 100ns.",
            ),
            option(
                "--join",
                is_flag=True,
                help="FILES are parts of one trajectory (a run and its restarts) in chronological order. For "
                "several trajectories quote one pattern each: 'run1/*.xtc' 'run2/*.xtc'.",
            ),
            option(
                "--weights",
                multiple=True,
                callback=_one_or_all,
                metavar="FILE[:COLUMN]",
                help="Weights of the frames of a biased simulation: a text file such as COLVAR of PLUMED, "
                "whose rows are matched to the frames by time, or a NumPy array. Default COLUMN: the one "
                "whose name ends in logweight, rbias, weight or bias. For several trajectories give one file "
                "each, in the same order: --weights FILE --weights FILE.",
            ),
            option(
                "--log-weights",
                multiple=True,
                callback=_one_or_all,
                metavar="FILE[:COLUMN]",
                help="Natural logarithms of the weights, instead of --weights.",
            ),
            option(
                "--temperature",
                type=float,
                metavar="K",
                help="Temperature of the simulation in K; needed if COLUMN of --weights is a bias in kJ/mol.",
            ),
            option(
                "--timestep",
                type=Time(),
                help="Time between the frames of the files, if the files contain no times or wrong ones: a "
                "number of ps, or 0.25us.",
            ),
        ],
    )


def feature_options(command: Decorated) -> Decorated:
    """Give a command the options for features that replace RMSD as the metric."""
    option = partial(click.option, cls=Option, section="Features")
    reductions = {
        "tica": (
            "LAG[:N]",
            "Compare the N slowest TICA components of the features at this lag time: 10ns, or 1us:2.",
        ),
        "vamp": ("LAG[:N]", "Compare VAMP components, which do not assume reversible dynamics."),
        "pca": ("N", "Compare the N principal components of the features."),
    }
    return decorated(
        command,
        [
            option(
                "--features",
                multiple=True,
                metavar="KIND[:SELECTION]",
                help="Compare features instead of RMSD: torsions, sidechains, all-torsions, distances, "
                "groups, closest, contacts, coordinates, or columns:FILE. May be given several times; "
                "'2*torsions' doubles their weight. mdfuzzy info lists the features of a molecule.",
            ),
            *(
                option(
                    f"--{name}",
                    metavar=value,
                    help=text
                    + ("" if name == "vamp" else " By default N is chosen automatically and reported."),
                )
                for name, (value, text) in reductions.items()
            ),
            option(
                "--max-features",
                type=int,
                metavar="N",
                help="Maximum number of features. With more, the command stops before it reads any frame, "
                f"because they need much memory. Default: {MAX_FEATURES:,}.",
            ),
        ],
    )


def read_files(
    files: Sequence[str],
    *,
    features: Sequence[str] = (),
    tica: str | None = None,
    vamp: str | None = None,
    pca: str | None = None,
    max_features: int | None = None,
    **reading: Any,
) -> "Trajectories":
    """Read the files of `reading_options` as frames, or as the features of `feature_options`."""
    import mdfuzzy as mf

    given = [
        (name, text) for name, text in (("TICA", tica), ("VAMP", vamp), ("PCA", pca)) if text is not None
    ]
    if not features:
        if max_features is not None:
            given.append(("max-features", ""))
        if given:
            option = f"--{given[0][0].lower()}"
            raise click.UsageError(f"{option} needs features. Give --features, such as --features distances.")
        return load_files(files, **reading)
    if len(given) > 1:
        raise click.UsageError("--tica, --vamp and --pca cannot be combined. Give one of them.")
    for name in ("align", "reference", "mass_weighted", "symmetry"):
        if reading.pop(name, None):
            option = "--" + name.replace("_", "-")
            raise click.UsageError(
                f"{option} is for RMSD. With --features, use --features coordinates:SELECTION."
            )
    reduction = None
    for method, text in given:
        reduction = mf.features.Reduction.parse(method, text)  # type: ignore[arg-type]
    if max_features is not None:
        reading["max_features"] = max_features
    join = reading.pop("join")
    return mf.featurize(file_paths(files, join=join), list(features), reduction=reduction, **reading)


def load_files(files: Sequence[str], *, join: bool, **reading: Any) -> "Frames":
    """Load the files of `reading_options`; for `join` see `file_paths`."""
    import mdfuzzy as mf

    if reading.get("symmetry") == "rotations":
        reading["symmetry"] = True
    return mf.load(file_paths(files, join=join), **reading)


def file_paths(files: Sequence[str], *, join: bool) -> list[str | list[str]]:
    """Return the files of each trajectory.

    With `join`, the files of a pattern are one trajectory, and all plain names together are another one.
    """
    paths: list[str | list[str]] = list(files)
    if join:
        patterns = [file for file in files if glob.has_magic(file) and not os.path.exists(file)]
        names = [file for file in files if file not in patterns]
        paths = [*([names] if names else []), *([pattern] for pattern in patterns)]
    return paths
