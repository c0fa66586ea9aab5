"""``mdfuzzy assign``: assign new trajectories to the states of a finished run."""

from typing import TYPE_CHECKING, Any

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, Option, output_option, run_argument
from mdfuzzy.cli.outputs import place_of, remove_page, write_exports, write_page, write_pictures
from mdfuzzy.cli.reading import file_paths, load_files, reading_options

if TYPE_CHECKING:
    from mdfuzzy.frames.trajectories import Trajectories


@click.command("assign", cls=Command)
@run_argument
@reading_options
@output_option("Folder for the results. Default: RUN/exports/assigned.")
@click.option(
    "--report/--no-report", cls=Option, section="Output", default=True, help="Write the report, or do not."
)
def command(folder: str, files: tuple[str, ...], output: str | None, report: bool, **reading: Any) -> None:
    """Assign the frames of new trajectories to the states of a finished run.

    The states do not change. Topology, atoms and features (including TICA) are taken from the run; --top and
    --atoms replace the topology and the atoms. The command prints the fraction of the new frames in each
    state next to the fraction in the run. It writes pictures, a report, discrete trajectories, memberships
    and a table of the new frames.

    \b
    Examples:
      mdfuzzy assign out new*.xtc
      mdfuzzy assign out new*.xtc -o new --stride 10
    """
    place = place_of(folder, output, "exports", "assigned")
    run = mf.RunDir(folder)
    result = run.load()
    data = result.data
    known = run.reading or {}
    for name in ("top", "atoms", "whole"):
        reading[name] = reading[name] if reading.get(name) is not None else known.get(name)
    if "features" in known:
        new = _features(files, data, reading)
    else:
        reading["align"] = reading["align"] if reading["align"] is not None else known.get("align")
        reading["mass_weighted"] |= known.get("mass_weighted", False)
        if reading["symmetry"] is None and data is not None:
            reading["symmetry"] = data.symmetry
        if reading["align"] is not None and reading["reference"] is None:
            reading["reference"] = data  # the structure on which the run was aligned
        new = load_files(files, **reading)
    found = mf.assign(result, new)
    click.echo(found.summary())
    with run.lock():
        remove_page(place / "report.html")
        for line in write_pictures(place / "plots", found):
            click.echo(line)
        kinds = ["tables", "pyemma", "table"] if found.data.weights is None else ["tables", "table"]
        for line in write_exports(place, found, kinds):
            click.echo(line)
        if report:
            click.echo(write_page(place / "report.html", found))


def _features(files: tuple[str, ...], data: Any, reading: dict[str, Any]) -> "Trajectories":
    """Compute the features of the run for new trajectories."""
    for name in ("align", "reference", "mass_weighted", "symmetry"):
        if reading.pop(name):
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} is for runs by RMSD; this one compared features. Leave it out.")
    if data.featurizer is None:
        raise click.UsageError(
            "The run compared columns of files, which the new trajectories do not have. Use mf.assign in "
            "Python, "
            "with mf.featurize of the new files and their columns."
        )
    return mf.featurize(file_paths(files, join=reading.pop("join")), data, **reading)
