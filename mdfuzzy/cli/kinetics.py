"""``mdfuzzy kinetics``: populations, passage times and pathways by the Markov model of a finished run."""

from pathlib import Path
from typing import get_args

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, Option, Time, run_argument
from mdfuzzy.plots.formats import Format


@click.command("kinetics", cls=Command)
@run_argument
@click.option(
    "--from", "source", cls=Option, type=int, metavar="STATE", help="Initial state of the pathways."
)
@click.option("--to", "target", cls=Option, type=int, metavar="STATE", help="Final state of the pathways.")
@click.option(
    "--lag",
    cls=Option,
    type=Time(),
    help="Lag time of the Markov model: a number of ps, or 10ns; in frames if the frames have no times. "
    "Default: the shortest lag time beyond which the timescales are converged.",
)
@click.option(
    "-o",
    "--output",
    cls=Option,
    metavar="FOLDER",
    help="Folder for the tables as CSV and LaTeX, and for a picture of the pathways. Default: the tables "
    "are only printed.",
)
@click.option(
    "--format",
    "format",
    cls=Option,
    type=click.Choice(get_args(Format)),
    default="png",
    show_default=True,
    help="Format of the picture.",
)
def command(
    folder: str, source: int | None, target: int | None, lag: float | None, output: str | None, format: Format
) -> None:
    """Show populations, first-passage times and pathways of a finished run, with intervals.

    All numbers come from a Markov model of the states. Without --from and --to, the pathways of the slowest
    process are shown. Intervals are 95 % intervals from a bootstrap of the trajectories.

    \b
    Examples:
      mdfuzzy kinetics out
      mdfuzzy kinetics out --from 0 --to 2
      mdfuzzy kinetics out --from 0 --to 2 -o tables --format pdf
      mdfuzzy kinetics out --lag 20ps
    """
    run = mf.RunDir(folder)
    with run.lock():
        found = mf.estimate_model(run.load(), source=source, target=target, lag_time=lag)
        if found.validation is not None:
            click.echo(found.validation.words)
        click.echo(found.states)
        click.echo()
        click.echo(found.equilibrium)
        click.echo()
        click.echo(found.pathways)
        if output is not None:
            place = mf.exports.write_state_tables(Path(output), found, overwrite=True)
            click.echo(f"tables: {place}")
            (picture,) = mf.plots.write_plots(output, found, kinds=["pathways"], format=format)
            click.echo(f"picture: {picture}")
