"""``mdfuzzy seeds``: choose structures from which to start new simulations."""

from pathlib import Path
from typing import Any

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, Option, output_option, run_argument


@click.command("seeds", cls=Command)
@run_argument
@click.option(
    "-n", "n", cls=Option, type=click.IntRange(min=1), default=20, show_default=True, help="Number of seeds."
)
@click.option(
    "--format",
    cls=Option,
    type=click.Choice(["gro", "pdb"]),
    default="gro",
    show_default=True,
    help="Format of the structures.",
)
@output_option("Folder for the structures. Default: RUN/exports/seeds.")
def command(folder: str, n: int, output: str | None, **options: Any) -> None:
    """Write structures from which to start new simulations, the best first, each with a reason.

    Frames rank high if their neighbourhood and their state were visited few times, or if their memberships
    are divided between states. Each chosen frame counts as a visit, so the seeds differ from each other. The
    structures contain all atoms of the trajectory files. GRO files contain velocities if the trajectory files
    do.

    \b
    Examples:
      mdfuzzy seeds out -n 20 -o seeds
      mdfuzzy seeds out -n 8 --format pdb
    """
    run = mf.RunDir(folder)
    with run.lock():
        result = run.load()
        seeds = mf.suggest_seeds(result, n)
        click.echo(seeds)
        place = Path(folder, "exports", "seeds") if output is None else Path(output)
        paths = mf.exports.write_seeds(place, result, seeds, **options)
        click.echo(f"{len(paths) - 1} structures and {paths[0].name}: {place}")
        click.echo(_velocities_in_words(result, seeds, options["format"]))


def _velocities_in_words(result: mf.Clustering, seeds: mf.Seeds, format: str) -> str:
    from mdfuzzy.frames.velocities import read_velocities

    if format == "pdb":
        return "The structures have no velocities, because the PDB format has none. Draw new velocities."
    if result.data is None or read_velocities(result.data, seeds.frames) is None:
        return (
            "The structures have no velocities, because the trajectory files have none. Draw new velocities."
        )
    return "The structures have the velocities of the trajectory files."
