"""``mdfuzzy demo``: run the complete analysis on the bundled trajectories."""

from pathlib import Path

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, output_option
from mdfuzzy.cli.outputs import Transcript, open_folder
from mdfuzzy.cli.program import Session
from mdfuzzy.cli.run import find_states
from mdfuzzy.frames.regions import region_table


@click.command("demo", cls=Command)
@output_option("Folder for the results.", default="mdfuzzy-demo")
@click.pass_obj
def command(session: Session, output: str) -> None:
    """Find the states of the bundled alanine dipeptide.

    The command does the same as `mdfuzzy run` with all settings chosen automatically: it finds states and
    writes pictures, files for other programs, and a report. The first call compiles the kernels, which takes
    up to a minute.
    """
    open_folder(output)
    say = Transcript()
    say("Alanine dipeptide in implicit water at 300 K, bundled with mdfuzzy")
    frames = mf.datasets.alanine_dipeptide()
    say(frames.summary())
    say(region_table(frames))
    folder = Path(output)
    find_states(session, frames, mf.Settings(scan_beta=True, validate=True), folder, say)
    click.echo(
        f"""
Results
  {folder / "report.html"}    open in a browser: states, transitions, and how reliable they are
  {folder / "plots"}          the same results as pictures
  {folder / "exports"}        files for PyEMMA and deeptime, a table of all frames, structures of the states
Your own molecule
  mdfuzzy info traj*.xtc --top molecule.pdb            contents of the files
  mdfuzzy run traj*.xtc --top molecule.pdb -o out      its states, in out/report.html
  mdfuzzy run --help                                   all options"""
    )
