"""``mdfuzzy plot``: draw the pictures of a finished run."""

from typing import Any, get_args

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, Option, output_option, run_argument
from mdfuzzy.cli.outputs import place_of, write_pictures
from mdfuzzy.plots.formats import DPI, Format


@click.command("plot", cls=Command)
@run_argument
@click.option(
    "--kind",
    "kinds",
    cls=Option,
    multiple=True,
    metavar="NAME",
    help="Draw only this picture, such as 'states', 'transitions' or 'network'; may be given several times. "
    "Default: all.",
)
@click.option(
    "--format",
    "format",
    cls=Option,
    type=click.Choice(get_args(Format)),
    default="png",
    show_default=True,
    help="Format of the pictures; PDF and SVG scale without loss.",
)
@click.option(
    "--dpi", cls=Option, type=int, default=DPI, show_default=True, help="Resolution of PNG in dots per inch."
)
@click.option(
    "--residue",
    cls=Option,
    metavar="NAME",
    help="Residue whose phi and psi are the axes, such as LYS27. Default: the only residue with phi and "
    "psi, or principal components.",
)
@output_option("Folder for the pictures. Default: RUN/plots.")
def command(folder: str, kinds: tuple[str, ...], output: str | None, **options: Any) -> None:
    """Draw the pictures of a finished run.

    \b
    Examples:
      mdfuzzy plot out
      mdfuzzy plot out --format pdf --residue LYS27
      mdfuzzy plot out --kind states --kind transitions -o figures
    """
    place = place_of(folder, output, "plots")
    run = mf.RunDir(folder)
    with run.lock():
        result = run.load()
        if options["residue"] is not None and (result.data is None or not result.data.residues):
            raise click.UsageError("--residue is for molecules with phi and psi; RUN has none. Leave it out.")
        for line in write_pictures(place, result, kinds=kinds, **options):
            click.echo(line)
