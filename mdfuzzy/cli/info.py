"""``mdfuzzy info``: show the contents of trajectory files or a run directory."""

from pathlib import Path
from typing import Any

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command
from mdfuzzy.cli.reading import load_files, reading_options
from mdfuzzy.features.available import feature_table
from mdfuzzy.frames.regions import region_table


@click.command("info", cls=Command)
@reading_options
def command(files: tuple[str, ...], **reading: Any) -> None:
    """Show the contents of trajectory files or of a run directory.

    For files: the number of trajectories, frames and atoms, the times in ps, the distribution of the
    residues over the regions of the Ramachandran plot, and the features that can be compared. For a run
    directory: the settings and the results.

    \b
    Examples:
      mdfuzzy info traj*.xtc --top ala2.pdb
      mdfuzzy info out
    """
    if len(files) == 1 and Path(files[0]).is_dir():
        run = mf.RunDir(files[0])
        click.echo(run.summary())
        result = run.load()
        if result.data is not None and result.data.featurizer is not None:
            click.echo(result.data.summary())
        click.echo(result.summary())
        return
    frames = load_files(files, **reading)
    click.echo(frames.summary())
    if frames.residues:
        click.echo(region_table(frames))
    if frames.has_structures:
        click.echo(feature_table(frames.trajectory([0], atoms="all" if frames.sources else "loaded")))
