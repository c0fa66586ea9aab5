"""The command line: ``mdfuzzy demo`` and ``mdfuzzy info``."""

import logging
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from mdfuzzy import __version__

if TYPE_CHECKING:
    import numpy as np

    from mdfuzzy.frames import Frames

#: What a user can put right by other input; everything else is a failure of the program or the machine.
BAD_INPUT = (ValueError, TypeError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)


@dataclass
class _State:
    """What the options before the command's name say."""

    debug: bool = False


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="On an error, show where in the program it arose.")
@click.pass_context
def commands(context: click.Context, debug: bool) -> None:
    """Metastable states and transitions in molecular-dynamics trajectories."""
    context.obj.debug = debug
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def reading_options(command: Callable) -> Callable:
    """Give a command the trajectory files and how they are read."""
    for decorate in (
        click.option(
            "--timestep", type=float, metavar="PS", help="Time between frames, if the files have none."
        ),
        click.option("--stride", type=int, default=1, show_default=True, help="Read every so many frames."),
        click.option(
            "--atoms", metavar="SELECTION", help="mdtraj selection; default: the solute's heavy atoms."
        ),
        click.option("--top", metavar="FILE", help="Topology (PDB, GRO, ...), if the files have none."),
        click.argument("files", nargs=-1, required=True),
    ):
        command = decorate(command)
    return command


@commands.command()
def demo() -> None:
    """Show what the bundled trajectories hold."""
    from mdfuzzy.datasets import alanine_dipeptide

    click.echo("Alanine dipeptide in implicit water, 300 K (bundled)")
    click.echo("\n".join(describe(alanine_dipeptide())))


@commands.command()
@reading_options
def info(
    files: tuple[str, ...], top: str | None, atoms: str | None, stride: int, timestep: float | None
) -> None:
    """Show what your trajectory files hold.

    Prints the number of trajectories, frames and atoms, the times, and how the residues are
    distributed over the regions of the Ramachandran plot.
    """
    from mdfuzzy.frames import load

    frames = load(list(files), top=top, atoms=atoms, stride=stride, timestep=timestep)
    click.echo("\n".join(describe(frames)))


def describe(frames: "Frames") -> Iterator[str]:
    """Yield the lines that say what `frames` hold."""
    yield f"trajectories  {len(frames.lengths)}"
    lengths = " + ".join(f"{length:,}" for length in frames.lengths[:8])
    more = " + ..." if len(frames.lengths) > 8 else ""
    yield f"frames        {len(frames.xyz):,}" + (f" = {lengths}{more}" if len(frames.lengths) > 1 else "")
    yield from describe_atoms(frames)
    yield from describe_times(frames)
    yield from describe_regions(frames)


def describe_atoms(frames: "Frames") -> Iterator[str]:
    """Yield the line of the atoms."""
    names = [str(atom) for atom in frames.topology.atoms] if frames.topology is not None else []
    shown = ", ".join(names if len(names) <= 12 else [*names[:6], "...", *names[-3:]])
    yield f"atoms         {frames.xyz.shape[1]:,}" + (f": {shown}" if names else "")


def describe_times(frames: "Frames") -> Iterator[str]:
    """Yield a line for each trajectory: when it starts and ends."""
    if frames.times is None:
        yield "times         unknown (--timestep gives the time between frames)"
        return
    for number, times in enumerate(frames.split(frames.times)):
        step = f", every {(times[-1] - times[0]) / (len(times) - 1):g} ps" if len(times) > 1 else ""
        yield f"{'times' if number == 0 else '':<14}{times[0]:g} to {times[-1]:g} ps{step}"


#: Regions of the Ramachandran plot, with the usual names; psi is taken from -120 to 240.
REGIONS: dict[str, "Callable[[np.ndarray, np.ndarray], np.ndarray]"] = {
    "alpha-R": lambda phi, psi: (phi < 0) & (psi < 60),
    "PII": lambda phi, psi: (phi >= -110) & (phi < 0) & (psi >= 60),
    "beta": lambda phi, psi: (phi < -110) & (psi >= 60),
    "alpha-L": lambda phi, psi: (phi >= 0) & (psi >= -60) & (psi < 100),
    "epsilon": lambda phi, psi: (phi >= 0) & ((psi < -60) | (psi >= 100)),
}


def describe_regions(frames: "Frames") -> Iterator[str]:
    """Yield a table of the share of frames in each region of the Ramachandran plot, a residue a line."""
    residues = [str(residue) for residue in frames.residues]
    if not residues:
        return
    yield "phi/psi       " + "".join(f"{region:>9}" for region in REGIONS)
    for column, residue in enumerate(residues):
        phi, psi = frames.phi[:, column], (frames.psi[:, column] + 120) % 360 - 120
        shares = (inside(phi, psi).mean() for inside in REGIONS.values())
        yield f"  {residue:<12}" + "".join(f"{share:>9.2%}" for share in shares)


# --- errors, warnings and messages: one line each, on stderr


def one_line(message: object) -> str:
    """Return the message without its line breaks."""
    return " ".join(str(message).split())


@contextmanager
def messages_on_stderr() -> Iterator[None]:
    """Inside the block, show warnings and the package's messages as single lines."""

    def show(message, category, filename, lineno, file=None, line=None) -> None:
        click.echo(f"mdfuzzy: warning: {one_line(message)}", err=True)

    logger, handler = logging.getLogger("mdfuzzy"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("mdfuzzy: %(message)s"))
    level = logger.level
    with warnings.catch_warnings():
        warnings.showwarning = show
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0 done, 2 bad input, 1 any other failure.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the process by default.
    """
    state = _State()
    try:
        with messages_on_stderr():
            status = commands.main(arguments, prog_name="mdfuzzy", standalone_mode=False, obj=state)
        return status if isinstance(status, int) else 0
    except click.Abort:
        return _fail("interrupted", 130)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" See `{context.command_path} --help`." if context is not None else ""
        return _fail(error.format_message() + hint, error.exit_code)
    except Exception as error:
        if state.debug:
            traceback.print_exc()
        if isinstance(error, BAD_INPUT):
            return _fail(error, 2)
        return _fail(f"{type(error).__name__}: {error} (mdfuzzy --debug ... shows where)", 1)


def _fail(message: object, status: int) -> int:
    click.echo(f"mdfuzzy: error: {one_line(message)}", err=True)
    return status
