"""``mdfuzzy run``: find states and write pictures, exports and a report."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

import mdfuzzy as mf
from mdfuzzy.cli.options import Command, Option, output_option, setting_options, take_settings
from mdfuzzy.cli.outputs import Transcript, open_folder, remove_outdated, write_outputs
from mdfuzzy.cli.program import Session
from mdfuzzy.cli.reading import feature_options, read_files, reading_options
from mdfuzzy.cli.watch import watch as watch_files
from mdfuzzy.pipeline.advice import feature_advice
from mdfuzzy.pipeline.memory import parse_bytes

if TYPE_CHECKING:
    from mdfuzzy.frames.trajectories import Trajectories
    from mdfuzzy.pipeline.clustering import Clustering
    from mdfuzzy.pipeline.settings import Settings
    from mdfuzzy.workers.cluster import Client

#: A scan over beta solves for the memberships about fifteen times. With more frames it is left out unless it
#: is requested.
_SCANNED = 100_000


@click.command("run", cls=Command)
@reading_options
@feature_options
@setting_options(scan_beta=True, validate=True)
@output_option("Run directory for all results; a later run resumes from it.", default="mdfuzzy-run")
@click.option(
    "--bare",
    cls=Option,
    section="Output",
    is_flag=True,
    help="Stop once the states are found; write no pictures, exports or report.",
)
@click.option(
    "--report/--no-report", cls=Option, section="Output", default=True, help="Write the report, or do not."
)
@click.option(
    "--watch",
    cls=Option,
    section="Output",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="Check the files at this interval and rerun when they have grown, until Ctrl-C. Quote patterns, "
    "as in 'run*.xtc', "
    "to include files that are added later.",
)
@click.option(
    "--memory",
    cls=Option,
    section="Settings",
    metavar="SIZE",
    help="Memory limit of the run, such as 8GB. If all frames need more, the states are found on as many "
    "frames as fit. Default: 70 % of the memory of the machine.",
)
@click.option(
    "--dask",
    cls=Option,
    section="Cluster",
    metavar="ADDRESS|local:N",
    help="Search neighbours and assign frames on a Dask cluster. ADDRESS is the address of its scheduler, or "
    "the JSON file that the scheduler wrote; local:N starts N workers on this machine. The results do not "
    "depend on it.",
)
@click.option(
    "--layout",
    cls=Option,
    section="Cluster",
    type=click.Choice(["scattered", "sharded"]),
    help="scattered: every worker holds all frames; sharded: every worker holds a part of them. Default: "
    "chosen from the memory of the workers.",
)
@click.pass_obj
def command(
    session: Session,
    /,
    files: tuple[str, ...],
    output: str,
    bare: bool,
    report: bool,
    watch: float | None,
    memory: str | None,
    dask: str | None,
    layout: Literal["scattered", "sharded"] | None,
    **options: Any,
) -> None:
    """Find the states of a molecule in its trajectories.

    FILES are trajectories of the same atoms, one per run; patterns such as 'run*.xtc' are allowed.
    Only --top is required: anything you omit is chosen automatically and reported.
    Distances are RMSD in nm, times in ps, torsions in degrees. RMSD suits small and rigid molecules; for
    folding and large motions compare features (--features, --tica).

    The folder of --output keeps all finished steps. Rerun the command to resume after a crash or
    Ctrl-C. With other settings, a rerun computes only the steps that depend on them. If trajectories have
    grown or files were added, only the neighbours of the new frames are searched. A folder that holds
    results for different trajectories is rejected.

    \b
    Examples:
      mdfuzzy run traj*.xtc --top ala2.pdb -o out
      mdfuzzy run traj*.xtc --top protein.pdb --atoms 'name CA' --stride 10 -o out
      mdfuzzy run traj*.xtc --top peptide.pdb --features torsions -o out
      mdfuzzy run traj*.xtc --top protein.pdb --features distances --tica 10ns -o out
      mdfuzzy run traj*.xtc --top ala2.pdb -o out --beta 0.5     colder walk, harder states
      mdfuzzy run traj*.xtc --top ala2.pdb -o out --beta kinetic
      mdfuzzy run traj*.xtc --top ala2.pdb -o out --n-states 4   exactly four states
      mdfuzzy run 'traj*.xtc' --top ala2.pdb -o out --watch 600
      mdfuzzy run traj*.xtc --top ala2.pdb -o out --fit-frames 1000000
      mdfuzzy run meta.xtc --top ala2.pdb -o out --weights COLVAR --temperature 300
      mdfuzzy run traj*.xtc --top ala2.pdb -o out --dask tcp://10.0.0.1:8786
    """
    from mdfuzzy.workers.cluster import connect

    weighted = any(options[name] is not None for name in ("weights", "log_weights"))
    if weighted and click.get_current_context().get_parameter_source("validate") is ParameterSource.DEFAULT:
        options["validate"] = False  # a bias changes the kinetics
    scan_requested = (
        click.get_current_context().get_parameter_source("scan_beta") is not ParameterSource.DEFAULT
    )
    settings = take_settings(options)
    for name in ("tica", "vamp", "pca"):
        if watch is not None and options[name] is not None:
            raise click.UsageError(
                f"--watch cannot be combined with --{name}, because new frames change the components. Use "
                "--features alone, or `mdfuzzy assign` for the new frames."
            )
    if layout is not None and dask is None:
        raise click.UsageError("--layout needs --dask.")
    if memory is not None:
        parse_bytes("memory", memory)
    run = open_folder(output, bare=bare, report=report)  # before files are read, which may take minutes
    with nullcontext() if dask is None else connect(dask) as client:  # before anything is written

        def run_once() -> None:
            frames = read_files(files, **options, scratch=run.scratch_folder, client=client)
            say = Transcript()
            say(frames.summary())
            find_states(
                session,
                frames,
                settings if scan_requested else _without_long_scan(settings, len(frames), say),
                Path(output),
                say,
                bare=bare,
                report=report,
                client=client,
                layout=layout,
                memory=memory,
                named=watch is not None,
            )

        if watch is None:
            run_once()
        else:
            watch_files(files, run_once, seconds=watch)


def _without_long_scan(settings: "Settings", n_frames: int, say: Transcript) -> "Settings":
    """Return the settings without a scan over beta if it would take long and does not choose beta."""
    fitted = n_frames if settings.fit_frames is None else min(n_frames, settings.fit_frames)
    if fitted <= _SCANNED or isinstance(settings.beta, str):
        return settings
    say(f"No scan over beta with more than {_SCANNED:,} frames; --scan-beta computes it.")
    return replace(settings, scan_beta=False)


def find_states(
    session: Session,
    frames: "Trajectories",
    settings: "Settings",
    folder: Path,
    say: Transcript,
    *,
    bare: bool = False,
    report: bool = True,
    more: "Callable[[Clustering], object] | None" = None,
    client: "Client | None" = None,
    layout: Literal["scattered", "sharded"] | None = None,
    memory: str | None = None,
    named: bool = False,
) -> "Clustering":
    """Cluster the frames, print the results, and write the pictures, exports and report."""
    from mdfuzzy._kernels.compiling import compiled_ahead

    run = mf.RunDir(folder)
    session.resume = f"; finished steps are kept in {folder}: rerun the command to resume"
    if bare:
        settings = replace(settings, validate=False)
    remove_outdated(run, frames, settings)
    with compiled_ahead():
        result = mf.cluster(frames, settings, store=run, client=client, layout=layout, memory=memory)
    say()
    show(result, say)
    names = run.name_states(result)
    if named or names.changed:
        say()
        say(names)
    if more is not None:
        more(result)
    with run.lock():
        if not bare:
            say()
            for line in write_outputs(folder, result, report=report, client=client):
                say(line)
        say.write(folder / "summary.txt")
    return result


def show(result: "Clustering", say: Transcript) -> None:
    """Print the states, the transition regions, the automatic choices, and the evidence for the states."""
    say(repr(result))
    say(result.states)
    say(
        "core: number of frames in the core, the frames around the peak at which the random walk ends. "
        "peak: number of the peak frame, counted from 0 over all trajectories."
    )
    if result.equilibrium is not None:
        say(
            "fraction: fraction of the frames, which depends on where the trajectories start. population: "
            "equilibrium population of the Markov model. Both have 95 % bootstrap intervals."
        )
    if result.n_states > 1 and result.transition_regions is not None:
        say()
        say(result.transition_regions.table())
        say(
            "transition frames: frames whose second-highest membership is at least "
            f"{result.transition_regions.threshold:g} times the highest. mixing: the mean of this ratio in "
            "the transition region, which consists of the transition frames of the two states."
        )
    say()
    for sentence in (*result.chosen.values(), *result.robustness):
        say(sentence)
    advice = feature_advice(result)
    if advice is not None:
        say(advice)
