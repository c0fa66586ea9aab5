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

import mdfuzzy as mf

if TYPE_CHECKING:
    import numpy as np

    from mdfuzzy.clustering import Clustering
    from mdfuzzy.frames import Frames

#: What a user can put right by other input; everything else is a failure of the program or the machine.
BAD_INPUT = (ValueError, TypeError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)


@dataclass
class _State:
    """What the options before the command's name say."""

    debug: bool = False


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(mf.__version__, message="%(prog)s %(version)s")
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
    """Find the states of the bundled alanine dipeptide.

    Every choice is made from the data. The first run compiles the kernels, which takes one to two minutes.
    """
    click.echo("Alanine dipeptide in implicit water at 300 K, bundled with mdfuzzy")
    frames = mf.datasets.alanine_dipeptide()
    show(frames)
    click.echo(
        "Finding its states. The first time, kernels are compiled and kept: one to two minutes.", err=True
    )
    result = mf.cluster(frames)
    click.echo()
    for line in state_table(result):
        click.echo(line)
    for sentence in result.chosen.values():
        click.echo(sentence)


@commands.command()
@reading_options
def info(files: tuple[str, ...], **reading: object) -> None:
    """Show what your trajectory files hold.

    Prints the number of trajectories, frames and atoms, the times, and how the residues are
    distributed over the regions of the Ramachandran plot.
    """
    show(mf.load(list(files), **reading))


def show(frames: "Frames") -> None:
    """Print what `frames` hold."""
    click.echo(frames.summary())
    for line in region_table(frames):
        click.echo(line)


def ramachandran_regions(phi: "np.ndarray", psi: "np.ndarray") -> dict[str, "np.ndarray"]:
    """Return masks of the usual regions of the Ramachandran plot, which together cover it once (degrees)."""
    psi = (psi + 120) % 360 - 120  # hardly a frame is near -120, so the plot is cut there
    left, helical = phi < 0, psi < 60
    left_handed = (psi >= -60) & (psi < 100)
    return {
        "alpha-R": left & helical,
        "PII": left & ~helical & (phi >= -110),
        "beta": left & ~helical & (phi < -110),
        "alpha-L": ~left & left_handed,
        "epsilon": ~left & ~left_handed,
    }


def region_table(frames: "Frames") -> Iterator[str]:
    """Yield a table of the share of frames in each region of the Ramachandran plot, a residue a line."""
    for column, residue in enumerate(frames.residues):
        regions = ramachandran_regions(frames.phi[:, column], frames.psi[:, column])
        if column == 0:
            yield f"{'share of frames':<16}" + "".join(f"{name:>9}" for name in regions)
        yield f"{residue:<16}" + "".join(f"{inside.mean():>9.2%}" for inside in regions.values())


def state_table(result: "Clustering") -> Iterator[str]:
    """Yield a table of the states: how many frames belong most to each, and where its peak is."""
    frames, hard = result.data, result.memberships.hard
    yield f"{'state':<8}{'frames':>9}{'share':>9}{'core':>7}{'prominence':>12}" + "".join(
        f"{'phi, psi of ' + residue:>22}" for residue in frames.residues
    )
    for state, peak in enumerate(result.cores.peaks):
        members = int((hard == state).sum())
        yield (
            f"{state:<8}{members:>9,}{members / len(hard):>9.2%}{result.cores.sizes[state]:>7}"
            + (f"{result.cores.prominence[state]:>12.2f}")
            + "".join(
                f"{f'{frames.phi[peak, r]:.0f}, {frames.psi[peak, r]:.0f}':>22}"
                for r in range(len(frames.residues))
            )
        )


# --- errors, warnings and messages: one line each, on stderr


def one_line(message: object) -> str:
    """Return the message without its line breaks."""
    return " ".join(str(message).split())


@contextmanager
def messages_on_stderr() -> Iterator[None]:
    """Inside the block, show warnings and the package's messages as single lines."""

    def show_warning(message, category, filename, lineno, file=None, line=None) -> None:
        click.echo(f"mdfuzzy: warning: {one_line(message)}", err=True)

    logger, handler = logging.getLogger("mdfuzzy"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("mdfuzzy: %(message)s"))
    level = logger.level
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
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
