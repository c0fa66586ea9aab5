"""``mdfuzzy compare``: the states of several ensembles, and what differs between them."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import mdfuzzy as mf
from mdfuzzy.cli.options import (
    Command,
    Option,
    Time,
    decorated,
    output_option,
    setting_options,
    take_settings,
)
from mdfuzzy.cli.outputs import Transcript, open_folder
from mdfuzzy.cli.program import Session
from mdfuzzy.cli.run import find_states

if TYPE_CHECKING:
    from mdfuzzy.pipeline.clustering import Clustering

_NAMED = re.compile(r"([^=\s/\\]+)=(.+)", re.DOTALL)


def _reading(function: Any) -> Any:
    option = partial(click.option, cls=Option, section="Reading")
    return decorated(
        function,
        [
            option(
                "--top",
                multiple=True,
                metavar="[NAME=]FILE",
                help="Topology of one ensemble (NAME=FILE) or of all. May be given several times.",
            ),
            option(
                "--atoms",
                multiple=True,
                metavar="[NAME=]SELECTION",
                help="Atoms to compare, as an mdtraj selection. Atoms are matched by residue number and "
                "name; if every ensemble has its own selection, by their order. Default: the solute's heavy "
                "atoms.",
            ),
            option(
                "--share",
                multiple=True,
                metavar="NAME=NUMBER",
                help="Total weight of an ensemble relative to the others. Default: equal weights.",
            ),
            option("--mass-weighted", is_flag=True, help="Weight atoms by their masses."),
            option("--stride", type=int, default=1, show_default=True, help="Read every Nth frame."),
            option(
                "--begin",
                type=Time(),
                help="Skip frames before this time: a number of ps, or 10ns.",
            ),
            option("--end", type=Time(), help="Skip frames after this time: a number of ps, or 100ns."),
            option(
                "--timestep",
                type=Time(),
                help="Time between the frames of the files, if the files contain no times: a number of ps "
                "or 0.25us.",
            ),
        ],
    )


@click.command("compare", cls=Command)
@click.argument("ensembles", nargs=-1, required=True, metavar="NAME=FILES...")
@_reading
@setting_options(scan_beta=False, validate=False)
@output_option("Run directory for all results; a later run resumes from it.", default="mdfuzzy-compare")
@click.pass_obj
def command(
    session: Session, /, ensembles: tuple[str, ...], output: str, share: tuple[str, ...], **options: Any
) -> None:
    """Compare the states of ensembles: mutants, ligands, force fields, temperatures.

    NAME=FILES names an ensemble and its trajectories (a file or a pattern). The same NAME may be given
    several times. The states are found in all ensembles together, using the atoms that they have in common;
    every ensemble has the same total weight. For each state, the command prints the fraction in each ensemble
    with its interval, the difference in free energy, and whether the difference is significant.

    \b
    Examples:
      mdfuzzy compare wt='wt*.xtc' mutant='mut*.xtc' --top wt=a.pdb --top mutant=b.pdb -o out
      mdfuzzy compare 300K='cold/*.xtc' 450K='hot/*.xtc' --top ala2.pdb -o out
    """
    paths: dict[str, list[str]] = {}
    for each in ensembles:
        name, file = _split(each, "NAME=FILES")
        paths.setdefault(name, []).append(file)
    if len(paths) < 2:
        raise click.UsageError(f"NAME=FILES must name at least 2 ensembles; got {next(iter(paths))!r} only.")
    tops, top = _by_name("--top", options.pop("top"), paths)
    by_name, atoms = _by_name("--atoms", options.pop("atoms"), paths)
    if by_name and len(by_name) < len(paths):
        missing = next(name for name in paths if name not in by_name)
        raise click.UsageError(
            f"--atoms must be given once, or for every ensemble; there is none for {missing!r}."
        )
    shares = _shares(share, paths)
    settings = take_settings(options)
    open_folder(output)
    frames = mf.load(paths, top=top, tops=tops or None, atoms=by_name or atoms, shares=shares, **options)
    say = Transcript()
    say(frames.summary())
    folder = Path(output)

    def compare(result: "Clustering") -> None:
        found = mf.compare_ensembles(result)
        say()
        say(found)
        for path in mf.exports.write_comparison(folder / "exports", found):
            say(f"comparison: {path}")

    find_states(session, frames, settings, folder, say, more=compare)


def _split(text: str, what: str) -> tuple[str, str]:
    found = _NAMED.fullmatch(text)
    if found is None:
        raise click.UsageError(f"{what} must be a name, '=' and a value, such as wt=run.xtc; got {text!r}.")
    return found[1], found[2]


def _by_name(
    option: str, values: Sequence[str], names: dict[str, list[str]]
) -> tuple[dict[str, str], str | None]:
    """Return the values given for single ensembles, and the value given for all."""
    own: dict[str, str] = {}
    common = None
    for value in values:
        name, _, rest = value.partition("=")
        if name in names and rest:
            own[name] = rest
        elif common is None and not (_NAMED.fullmatch(value) and option == "--top"):
            common = value
        else:
            known = ", ".join(names)
            raise click.UsageError(
                f"{option} must name one of the ensembles {known}, or be given once; got {value!r}."
            )
    return own, common


def _shares(values: Sequence[str], names: dict[str, list[str]]) -> dict[str, float] | None:
    found = {}
    for value in values:
        name, number = _split(value, "--share")
        try:
            found[name] = float(number)
        except ValueError:
            raise click.UsageError(f"--share must be NAME=NUMBER; got {value!r}.") from None
        if name not in names or not found[name] > 0:
            raise click.UsageError(f"--share must name an ensemble and a number > 0; got {value!r}.")
    return {name: found.get(name, 1.0) for name in names} if found else None
