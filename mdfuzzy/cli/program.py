"""Run the command line: the group of commands, and how errors and messages reach the user."""

import errno
import logging
import re
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import click

from mdfuzzy import __version__
from mdfuzzy._check import InputError

#: Errors that a user can correct by other input; all others are failures of the program or the machine.
BAD_INPUT = (
    *(InputError, FileNotFoundError, FileExistsError, BlockingIOError),
    *(IsADirectoryError, NotADirectoryError, PermissionError, ConnectionRefusedError),
)


#: Errors of the system that another path corrects.
BAD_PATH = frozenset({errno.ENAMETOOLONG, errno.ELOOP, errno.EROFS, errno.EINVAL})


#: Options of other programs, and the options of mdfuzzy that correspond to them.
_OF_OTHERS = {
    "-f": "Trajectories are given without an option: mdfuzzy run traj.xtc --top mol.pdb.",
    "-s": "The topology is --top: a PDB or GRO file, such as `gmx editconf -f topol.tpr -o mol.pdb` writes.",
    "-b": "The start time is --begin, in ps.",
    "-e": "The end time is --end, in ps.",
    "-d": "To read every Nth frame use --stride.",
}


@dataclass
class Session:
    """The options before the name of the command, and the message if the command is interrupted."""

    debug: bool = False
    resume: str = ""
    options: dict[str, str] = field(default_factory=dict)


class InOrder(click.Group):
    """A group that lists its commands in the order in which they were added, not alphabetically."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order in which they were added."""
        return list(self.commands)


@click.group(
    cls=InOrder, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def commands(context: click.Context, debug: bool) -> None:
    """Metastable states and transitions in molecular-dynamics trajectories.

    \b
    mdfuzzy demo                                   try it on alanine dipeptide
    mdfuzzy run traj*.xtc --top mol.pdb -o out     find the states of your molecule
    mdfuzzy COMMAND --help                         options, units and examples
    """
    context.obj.debug = debug
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        return
    command = commands.get_command(context, context.invoked_subcommand)
    context.obj.options = {} if command is None else option_names(command)


def option_names(command: click.Command) -> dict[str, str]:
    """Return the option for each argument of the package: ``--top`` for ``top``."""
    read = any(each.name == "files" for each in command.params)
    names = {"trajectories": "FILES", "paths": "FILES", "data": "FILES" if read else "RUN", "result": "RUN"}
    for each in command.params:
        if isinstance(each, click.Option) and each.name is not None:
            names[each.name] = max(each.opts, key=len)
    return names | ({"lag_time": names["lag"]} if "lag" in names else {})


def in_options(message: object, options: Mapping[str, str]) -> str:
    """Return a message of the package with the options of a command in place of arguments.

    Examples
    --------
    >>> in_options("`n_states` must be an int; got 0.", {"n_states": "--n-states"})
    '--n-states must be an int; got 0.'
    >>> in_options("Use `atoms='name CA'` or `whole=False`.", {"atoms": "--atoms", "whole": "--whole"})
    "Use --atoms 'name CA' or --no-whole."
    """

    def option(found: re.Match[str]) -> str:
        name, value = options.get(found[1]), found[2]
        if name is None:
            return found[0]
        if value in ("True", "False"):
            return name if value == "True" else name.replace("--", "--no-", 1)
        if value is None:
            return name
        return f"{name} {value}" if " " in value else f"{name} {value}".replace("'", "")

    return re.sub(r"`(\w+)(?:=([^`]+))?`", option, str(message))


def one_line(message: object) -> str:
    """Return the message without its line breaks."""
    return " ".join(str(message).split())


@contextmanager
def messages_on_stderr(session: Session) -> Iterator[None]:
    """Inside the block, show warnings and the package's messages as single lines."""

    def show_warning(message: Warning | str, *_: object, **__: object) -> None:
        click.echo(f"mdfuzzy: warning: {one_line(in_options(message, session.options))}", err=True)

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
    """Run the command line and return its exit status.

    0: done; 2: bad input; 1: any other failure; 130: interrupted.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the process by default.
    """
    session = Session()
    try:
        with messages_on_stderr(session):
            status = commands.main(arguments, prog_name="mdfuzzy", standalone_mode=False, obj=session)
        return status if isinstance(status, int) else 0
    except (click.Abort, KeyboardInterrupt):
        return _fail(f"interrupted{session.resume}", 130)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" See `{context.command_path} --help`." if context is not None else ""
        if isinstance(error, click.NoSuchOption) and error.option_name in _OF_OTHERS:
            hint = f" {_OF_OTHERS[error.option_name]}{hint}"
        return _fail(error.format_message() + hint, error.exit_code)
    except Exception as error:
        if session.debug:
            traceback.print_exc()
        if isinstance(error, OSError) and error.errno is not None:
            bad = isinstance(error, BAD_INPUT) or error.errno in BAD_PATH
            return _fail(_system_words(error), 2 if bad else 1)
        if isinstance(error, OSError) and re.fullmatch(r"\d+ requested and \d+ written", str(error)):
            return _fail(f"the disk may be full ({error} by NumPy): free some space and rerun the command", 1)
        if isinstance(error, BAD_INPUT):
            return _fail(in_options(error, session.options), 2)
        hint = "mdfuzzy --debug ... shows where"
        if isinstance(error, ValueError | TypeError | LookupError | AttributeError | AssertionError):
            hint = "this is a bug in mdfuzzy: please report it with the output of mdfuzzy --debug ..."
        return _fail(f"{type(error).__name__}: {error} ({hint})", 1)


def _system_words(error: OSError) -> str:
    """Return the message of a system error, with the file and without the number of the error."""
    words = (error.strerror or type(error).__name__).lower()
    if error.errno == errno.ENOSPC:
        words += ": free some space and rerun the command"
    return words if error.filename is None else f"{str(error.filename)!r}: {words}"


def _fail(message: object, status: int) -> int:
    click.echo(f"mdfuzzy: error: {one_line(message)}", err=True)
    return status
