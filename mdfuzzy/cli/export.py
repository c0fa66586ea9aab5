"""``mdfuzzy export``: the files that other programs take."""

from pathlib import Path

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, Decorated, Option, output_option, run_argument
from mdfuzzy.cli.outputs import write_exports
from mdfuzzy.exports.kinds import KINDS


def _choices(function: Decorated) -> Decorated:
    for name, what in reversed(KINDS.items()):
        function = click.option(f"--{name}", cls=Option, is_flag=True, help=f"{what}.")(function)
    return function


@click.command("export", cls=Command)
@run_argument
@_choices
@output_option("Where to write them. Default: RUN/exports.")
def command(folder: str, output: str | None, **chosen: bool) -> None:
    """Write what a finished run found for other programs.

    Without any of the options below: all of them. Files that an earlier export left there are replaced.

    \b
    Examples:
      mdfuzzy export out
      mdfuzzy export out --table --structures -o for-my-thesis
    """
    place = Path(folder, "exports") if output is None else Path(output)
    kinds = [name for name, wanted in chosen.items() if wanted] or list(KINDS)
    run = mf.RunDir(folder)
    with run.lock():
        for line in write_exports(place, run.load(), kinds):
            click.echo(line)
