"""``mdfuzzy assign``: new trajectories against the states of a finished run."""

from typing import Any

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, load_files, output_option, reading_options, run_argument
from mdfuzzy.cli.outputs import place_of, write_exports


@click.command("assign", cls=Command)
@run_argument
@reading_options
@output_option("Where the results go. Default: RUN/exports/assigned.")
def command(folder: str, files: tuple[str, ...], output: str | None, **reading: Any) -> None:
    """Give the frames of new trajectories memberships in the states of a finished run.

    The states stay as they are. Topology and atoms are those of the run unless given. Writes discrete
    trajectories, memberships and a table of the new frames.

    \b
    Examples:
      mdfuzzy assign out new*.xtc
      mdfuzzy assign out new*.xtc -o new --stride 10
    """
    place = place_of(folder, output, "exports", "assigned")
    run = mf.RunDir(folder)
    result = run.load()
    known = run.reading or {}
    for name in ("top", "atoms", "whole", "align"):
        reading[name] = reading[name] if reading.get(name) is not None else known.get(name)
    reading["mass_weighted"] |= known.get("mass_weighted", False)
    if reading["symmetry"] is None and result.data is not None:
        reading["symmetry"] = result.data.symmetry
    if reading["align"] is not None and reading["reference"] is None:
        reading["reference"] = result.data  # the structure on which the run was aligned
    found = mf.assign(result, load_files(files, **reading))
    click.echo(found.summary())
    with run.lock():
        for line in write_exports(place, found, ["pyemma", "table"]):
            click.echo(line)
