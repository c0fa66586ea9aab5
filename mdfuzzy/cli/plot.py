"""``mdfuzzy plot``: the pictures of a finished run."""

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, Option, output_option, run_argument
from mdfuzzy.cli.outputs import place_of, write_pictures


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
@output_option("Where to write them. Default: RUN/plots.")
def command(folder: str, kinds: tuple[str, ...], output: str | None) -> None:
    """Draw the pictures of a finished run, as PNG.

    \b
    Examples:
      mdfuzzy plot out
      mdfuzzy plot out --kind states --kind transitions -o figures
    """
    place = place_of(folder, output, "plots")
    run = mf.RunDir(folder)
    with run.lock():
        for line in write_pictures(place, run.load(), kinds=kinds):
            click.echo(line)
