"""``mdfuzzy export``: write files for other programs."""

from contextlib import nullcontext
from typing import Any

import click

import mdfuzzy as mf
from mdfuzzy._atomic import new_files
from mdfuzzy.cli.options import Command, Decorated, Option, output_option, run_argument
from mdfuzzy.cli.outputs import place_of, write_exports
from mdfuzzy.exports.kinds import KINDS, kinds_of
from mdfuzzy.workers.cluster import connect


def _choices(function: Decorated) -> Decorated:
    for name, what in reversed(KINDS.items()):
        function = click.option(f"--{name}", cls=Option, is_flag=True, help=f"{what}.")(function)
    return function


@click.command("export", cls=Command)
@run_argument
@_choices
@click.option(
    "--reference",
    cls=Option,
    metavar="FILE",
    help="Compute the RMSD of every state to this structure (PDB, mmCIF, GRO) over the clustered atoms.",
)
@click.option(
    "--torsions",
    cls=Option,
    is_flag=True,
    default=None,
    help="Include phi and psi of all residues in the table. Default: if there are at most 12 residues.",
)
@click.option(
    "-n",
    "n",
    cls=Option,
    section="Trajectories",
    type=int,
    metavar="N",
    help="Write only the N frames of each state with the highest membership and density.",
)
@click.option(
    "--every",
    cls=Option,
    section="Trajectories",
    type=int,
    metavar="N",
    help="Write every Nth frame of each state. Default: all frames.",
)
@click.option(
    "--format",
    cls=Option,
    section="Trajectories",
    type=click.Choice(["xtc", "dcd", "pdb"]),
    help="Format of the trajectories. Default: xtc.",
)
@click.option(
    "--atoms",
    cls=Option,
    section="Trajectories",
    type=click.Choice(["all", "loaded"]),
    help="All atoms of the trajectory files, or only those that were clustered. Default: all.",
)
@click.option(
    "--dask",
    cls=Option,
    section="Cluster",
    metavar="ADDRESS|local:N",
    help="Write trajectories (XTC) and the table on a Dask cluster, as for mdfuzzy run.",
)
@output_option("Folder for the files. Default: RUN/exports.")
def command(folder: str, output: str | None, reference: str | None, dask: str | None, **options: Any) -> None:
    """Write the results of a finished run for other programs.

    If none of the options --tables to --splits is given, all kinds of files are written. Files of an earlier
    export are replaced.

    \b
    Examples:
      mdfuzzy export out
      mdfuzzy export out --table --structures -o for-my-thesis
      mdfuzzy export out --trajectories --format xtc -n 100
      mdfuzzy export out --reference crystal.pdb
    """
    place = place_of(folder, output, "exports")
    kinds = [name for name in KINDS if options.pop(name)]
    columns = {"torsions": True} if options.pop("torsions") else {}
    if columns and not kinds:
        kinds = ["table"]
    elif columns and "table" not in kinds:
        raise click.UsageError("--torsions is an option of --table.")
    given = {name: value for name, value in options.items() if value is not None}
    if given and not kinds:
        kinds = ["trajectories"]
    elif given and "trajectories" not in kinds:
        option = "-n" if "n" in given else f"--{next(iter(given))}"
        raise click.UsageError(f"{option} is an option of --trajectories.")
    if len({"n", "every"} & given.keys()) == 2:
        raise click.UsageError("-n and --every cannot be combined.")
    run = mf.RunDir(folder)
    with nullcontext() if dask is None else connect(dask) as client, run.lock():
        result = run.load()
        if reference is not None:
            from mdfuzzy.exports.reference import reference_rmsd

            found = reference_rmsd(result, reference)
            click.echo(found)
            with new_files(place, "reference", overwrite=True) as stage:
                found.write(stage / "reference.csv")
            click.echo(f"RMSD to the reference: {place / 'reference.csv'}")
        elif not kinds:
            kinds = kinds_of(result)
        given, columns = ({**each, "client": client} for each in (given, columns))
        for line in write_exports(place, result, kinds, trajectories=given, table=columns):
            click.echo(line)
