"""``mdfuzzy seeds``: structures to start new simulations from."""

from pathlib import Path
from typing import Any

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, Option, output_option, run_argument


@click.command("seeds", cls=Command)
@run_argument
@click.option(
    "-n", "n", cls=Option, type=click.IntRange(min=1), default=20, show_default=True, help="How many seeds."
)
@click.option(
    "--format",
    cls=Option,
    type=click.Choice(["gro", "pdb"]),
    default="gro",
    show_default=True,
    help="Format of the structures.",
)
@output_option("Where to write them. Default: RUN/exports/seeds.")
def command(folder: str, n: int, output: str | None, **options: Any) -> None:
    """Write structures to start new simulations from, the best first, each with its reason.

    Frames are ranked by how few visits their surroundings and their state had, and by how uncertain their
    memberships are. Each chosen frame counts as a visit, so the seeds differ from each other. The structures
    have all atoms of the trajectory files.

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
