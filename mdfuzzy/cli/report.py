"""``mdfuzzy report``: write the report of a finished run."""

from pathlib import Path

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, Option, run_argument
from mdfuzzy.cli.outputs import write_page


@click.command("report", cls=Command)
@run_argument
@click.option(
    "-o", "--output", cls=Option, metavar="FILE", help="File for the report. Default: RUN/report.html."
)
@click.option("--title", cls=Option, help="Title of the page.")
def command(folder: str, output: str | None, title: str | None) -> None:
    """Write the report of a finished run: a self-contained HTML file.

    \b
    Examples:
      mdfuzzy report out
      mdfuzzy report out -o ala2.html --title 'Alanine dipeptide, 300 K'
    """
    if output is not None and Path(output).suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(
            f"--output must be an HTML file, such as report.html; got {output!r}. For PDF print the "
            "page from a browser; for pictures use `mdfuzzy plot`."
        )
    page = Path(folder, "report.html") if output is None else Path(output)
    run = mf.RunDir(folder)
    with run.lock():
        click.echo(write_page(page, run.load(), title=title))
