"""``mdfuzzy run``: from trajectory files to states, pictures, exports and a report."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import (
    Command,
    Option,
    output_option,
    reading_options,
    setting_options,
    take_settings,
)
from mdfuzzy.cli.outputs import write_outputs
from mdfuzzy.cli.program import Session

if TYPE_CHECKING:
    from mdfuzzy.frames.frames import Frames
    from mdfuzzy.pipeline.clustering import Clustering
    from mdfuzzy.pipeline.settings import Settings
    from mdfuzzy.workers.cluster import Client


@click.command("run", cls=Command)
@reading_options
@setting_options(scan_beta=True)
@output_option("Run directory: all results, and what a later run goes on from.", default="mdfuzzy-run")
@click.option(
    "--bare",
    cls=Option,
    section="Output",
    is_flag=True,
    help="Stop when the states are found: no pictures, exports or report.",
)
@click.option(
    "--dask",
    cls=Option,
    section="Cluster",
    metavar="ADDRESS|local:N",
    help="Search neighbours on the workers of a Dask cluster: the address of its scheduler, or the JSON file "
    "that it wrote; or on N workers on this machine. The result does not depend on it.",
)
@click.option(
    "--layout",
    cls=Option,
    section="Cluster",
    type=click.Choice(["scattered", "sharded"]),
    help="Whether every worker has all frames, or a part of them. Default: by the workers' memory.",
)
@click.pass_obj
def command(
    session: Session,
    /,
    files: tuple[str, ...],
    output: str,
    bare: bool,
    dask: str | None,
    layout: Literal["scattered", "sharded"] | None,
    **options: Any,
) -> None:
    """Find the states of a molecule in its trajectories.

    FILES are trajectories of the same atoms, each of them one run (a pattern such as 'run*.xtc' is fine). No
    other option than --top is needed: what is not given is chosen from the data and printed with its reason.
    Distances are RMSD in nm, times in ps, torsions in degrees.

    The folder of --output keeps what is finished. The same command goes on after a crash or Ctrl-C; with
    other settings it computes only what depends on them. The folder of other trajectories is refused.

    \b
    Examples:
      mdfuzzy run traj*.xtc --top ala2.pdb -o out
      mdfuzzy run traj*.xtc --top protein.pdb --atoms 'name CA' --stride 10 -o out
      mdfuzzy run traj*.xtc --top ala2.pdb -o out --beta 0.5     colder: harder states
      mdfuzzy run traj*.xtc --top ala2.pdb -o out --beta kinetic
      mdfuzzy run traj*.xtc --top ala2.pdb -o out --dask tcp://10.0.0.1:8786
    """
    from mdfuzzy.workers.cluster import connect

    settings = take_settings(options)
    if layout is not None and dask is None:
        raise click.UsageError("--layout is for a search with --dask.")
    mf.RunDir(output).check_place()  # before files are read, which may take minutes
    with nullcontext() if dask is None else connect(dask) as client:  # before anything is written
        frames = mf.load(list(files), **options)
        click.echo(frames.summary())
        find_states(session, frames, settings, Path(output), bare=bare, client=client, layout=layout)


def find_states(
    session: Session,
    frames: "Frames",
    settings: "Settings",
    folder: Path,
    *,
    bare: bool = False,
    client: "Client | None" = None,
    layout: Literal["scattered", "sharded"] | None = None,
) -> "Clustering":
    """Cluster the frames, print what was found, and write what belongs to it."""
    from mdfuzzy._kernels.compiling import compiled_ahead

    run = mf.RunDir(folder)
    session.resume = f"; what is finished is kept in {folder}, and the same command goes on from there"
    with compiled_ahead():
        result = mf.cluster(frames, settings, store=run, client=client, layout=layout)
    click.echo()
    show(result)
    if not bare:
        click.echo()
        with run.lock():
            for line in write_outputs(folder, result):
                click.echo(line)
    return result


def show(result: "Clustering") -> None:
    """Print the states, the transition regions between them, and what was chosen and why."""
    click.echo(repr(result))
    click.echo(result.states)
    if result.n_states > 1 and result.transition_regions is not None:
        click.echo()
        click.echo(result.transition_regions.table())
    click.echo()
    for sentence in result.chosen.values():
        click.echo(sentence)
