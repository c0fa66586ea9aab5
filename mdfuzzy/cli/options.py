"""Options that several commands share; the options of a clustering are made from `Settings`."""

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import click

from mdfuzzy._messages import TIME_UNITS, parse_time
from mdfuzzy.pipeline.settings import Settings

if TYPE_CHECKING:
    from mdfuzzy.frames.frames import Frames
    from mdfuzzy.frames.trajectories import Trajectories

#: A function that is given options, or the command made of it.
Decorated = TypeVar("Decorated", bound=Callable[..., Any] | click.Command)


class Option(click.Option):
    """An option with the heading under which the help lists it."""

    def __init__(self, *declarations: Any, section: str = "Options", **options: Any) -> None:
        super().__init__(*declarations, **options)
        self.section = section


class Command(click.Command):
    """A command whose help lists its options under headings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give --symmetry its value if it stands alone; what follows may be a file."""
        for place in [at for at, word in enumerate(args) if word == "--symmetry"]:
            after = args[place + 1] if place + 1 < len(args) else ""
            if after not in ("rotations", "graph") and (" " not in after or os.path.exists(after)):
                args = [*args[:place], "--symmetry=rotations", *args[place + 1 :]]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, each below the heading of its section."""
        sections: dict[str, list[Any]] = {}
        for option in self.get_params(ctx):
            if isinstance(option, click.Option):
                title = getattr(option, "section", "Help")
                sections.setdefault(title, []).append(option.get_help_record(ctx))
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


class NumberOrWord(click.ParamType):  # type: ignore[type-arg]  # older releases of click take none
    """A number, or one of several words."""

    name = "number or word"

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return how the help names a value."""
        return "|".join(["NUMBER", *self.words])

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        """Return the word or the number that was typed, or end with an error."""
        if value in self.words:
            return value
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor {' or '.join(map(repr, self.words))}.", param, ctx)


class Time(click.ParamType):  # type: ignore[type-arg]
    """A time: a number of ps, or a number with a unit, such as 10ns."""

    name = "time"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return how the help names a value."""
        return "TIME"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the time in ps, or end with an error."""
        found = (float(value), "") if isinstance(value, int | float) else parse_time(value)
        if found is None:
            units = ", ".join(unit for unit in TIME_UNITS if unit.isascii())
            self.fail(f"{value!r} is no time. Give a number of ps, or one with a unit ({units}).", param, ctx)
        return found[0]


def decorated(command: Decorated, options: list[Callable[[Decorated], Decorated]]) -> Decorated:
    """Give a command options, listed in this order."""
    for decorate in reversed(options):
        command = decorate(command)
    return command


def _one_or_all(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> Any:
    """Return what was given several times as a list, what was given once, or None."""
    return list(values) if len(values) > 1 else next(iter(values), None)


def reading_options(command: Decorated) -> Decorated:
    """Give a command the trajectory files and how they are read: the arguments of `load`."""
    title = "Reading"
    return decorated(
        command,
        [
            click.argument("files", nargs=-1, required=True),
            click.option(
                "--top",
                cls=Option,
                section=title,
                metavar="FILE",
                help="Topology (PDB, GRO, ...), for formats that do not contain one.",
            ),
            click.option(
                "--atoms",
                cls=Option,
                section=title,
                metavar="SELECTION",
                help="Atoms to compare, as an mdtraj selection such as 'name CA'. Default: the solute's "
                "heavy "
                "atoms.",
            ),
            click.option(
                "--align",
                cls=Option,
                section=title,
                metavar="SELECTION",
                help="Superpose every frame on one structure by these atoms, and compare --atoms without "
                "further superposition, for example to compare poses of a ligand in its protein.",
            ),
            click.option(
                "--reference",
                cls=Option,
                section=title,
                metavar="FILE",
                help="Structure to align to (PDB, GRO, ...). Default: the first frame.",
            ),
            click.option(
                "--mass-weighted",
                cls=Option,
                section=title,
                is_flag=True,
                help="Weight atoms by their masses.",
            ),
            click.option(
                "--symmetry",
                cls=Option,
                section=title,
                metavar="[rotations|graph|NAMES]",
                help="Minimise the RMSD over exchanges of symmetry-equivalent atoms. 'rotations' (or no "
                "value): "
                "exchanges that keep chirality, found from the bonds; 'graph': also the methyl groups "
                "of Val and Leu. Or atom names within a residue, such as 'C2 C6, C3 C5; N1 N2'.",
            ),
            click.option(
                "--stride",
                cls=Option,
                section=title,
                type=int,
                default=1,
                show_default=True,
                help="Read every Nth frame.",
            ),
            click.option(
                "--begin",
                cls=Option,
                section=title,
                type=Time(),
                help="Skip frames before this time, such as the equilibration: a number of ps, or 10ns.",
            ),
            click.option(
                "--end",
                cls=Option,
                section=title,
                type=Time(),
                help="Skip frames after this time: a number of ps, or 100ns.",
            ),
            click.option(
                "--join",
                cls=Option,
                section=title,
                is_flag=True,
                help="FILES are parts of one trajectory (a run and its restarts) in chronological order. For "
                "several trajectories quote one pattern each: 'run1/*.xtc' 'run2/*.xtc'.",
            ),
            click.option(
                "--weights",
                cls=Option,
                section=title,
                multiple=True,
                callback=_one_or_all,
                metavar="FILE[:COLUMN]",
                help="Weights of the frames of a biased simulation: a text file such as COLVAR of PLUMED, "
                "whose rows are matched to the frames by time, or a NumPy array. Default COLUMN: the one "
                "whose name ends in logweight, rbias, weight or bias. For several trajectories give one file "
                "each, in the same order: --weights FILE --weights FILE.",
            ),
            click.option(
                "--log-weights",
                cls=Option,
                section=title,
                multiple=True,
                callback=_one_or_all,
                metavar="FILE[:COLUMN]",
                help="Natural logarithms of the weights, instead of --weights.",
            ),
            click.option(
                "--temperature",
                cls=Option,
                section=title,
                type=float,
                metavar="K",
                help="Temperature of the simulation in K; needed if COLUMN of --weights is a bias in kJ/mol.",
            ),
            click.option(
                "--timestep",
                cls=Option,
                section=title,
                type=Time(),
                help="Time between the frames of the files, if the files contain no times or wrong ones: a "
                "number of ps, or 0.25us.",
            ),
        ],
    )


def feature_options(command: Decorated) -> Decorated:
    """Give a command the features that frames can be compared by instead of RMSD."""
    title = "Features"
    reductions = {
        "tica": (
            "LAG[:N]",
            "Compare the N slowest TICA components of the features at this lag time: 10ns, or 1us:2.",
        ),
        "vamp": ("LAG[:N]", "Compare VAMP components, which do not assume reversible dynamics."),
        "pca": ("N", "Compare the N principal components of the features."),
    }
    return decorated(
        command,
        [
            click.option(
                "--features",
                cls=Option,
                section=title,
                multiple=True,
                metavar="KIND[:SELECTION]",
                help="Compare features instead of RMSD: torsions, sidechains, all-torsions, distances, "
                "groups, closest, contacts, coordinates, or columns:FILE. May be given several times; "
                "'2*torsions' doubles the weight. mdfuzzy info lists the features of a molecule.",
            ),
            *(
                click.option(
                    f"--{name}",
                    cls=Option,
                    section=title,
                    metavar=value,
                    help=text
                    + ("" if name == "vamp" else " By default N is chosen automatically and reported."),
                )
                for name, (value, text) in reductions.items()
            ),
        ],
    )


def read_files(
    files: Sequence[str],
    *,
    features: Sequence[str] = (),
    tica: str | None = None,
    vamp: str | None = None,
    pca: str | None = None,
    **reading: Any,
) -> "Trajectories":
    """Read the files of `reading_options` as frames, or as the features of `feature_options`."""
    import mdfuzzy as mf

    given = [
        (name, text) for name, text in (("TICA", tica), ("VAMP", vamp), ("PCA", pca)) if text is not None
    ]
    if not features:
        if given:
            option = f"--{given[0][0].lower()}"
            raise click.UsageError(f"{option} needs features. Give --features, such as --features distances.")
        return load_files(files, **reading)
    if len(given) > 1:
        raise click.UsageError("--tica, --vamp and --pca cannot be combined. Give one of them.")
    for name in ("align", "reference", "mass_weighted", "symmetry"):
        if reading.pop(name, None):
            option = "--" + name.replace("_", "-")
            raise click.UsageError(
                f"{option} is for RMSD. With --features, use --features coordinates:SELECTION."
            )
    reduction = None
    for method, text in given:
        reduction = mf.features.Reduction.parse(method, text)  # type: ignore[arg-type]
    join = reading.pop("join")
    return mf.featurize(file_paths(files, join=join), list(features), reduction=reduction, **reading)


def load_files(files: Sequence[str], *, join: bool, **reading: Any) -> "Frames":
    """Load the files of `reading_options`; with `join`, a pattern is one trajectory, and so are all names."""
    import mdfuzzy as mf

    if reading.get("symmetry") == "rotations":
        reading["symmetry"] = True
    return mf.load(file_paths(files, join=join), **reading)


def file_paths(files: Sequence[str], *, join: bool) -> list[str | list[str]]:
    """Return the files of each trajectory; with `join`, a pattern is one, and so are all names."""
    paths: list[str | list[str]] = list(files)
    if join:
        patterns = [file for file in files if glob.has_magic(file) and not os.path.exists(file)]
        names = [file for file in files if file not in patterns]
        paths = [*([names] if names else []), *([pattern] for pattern in patterns)]
    return paths


def output_option(help_text: str, default: str | None = None) -> Callable[[Decorated], Decorated]:
    """Return an option for where to write."""
    return click.option(
        "-o",
        "--output",
        cls=Option,
        section="Output",
        metavar="FOLDER",
        default=default,
        show_default=default is not None,
        help=help_text,
    )


run_argument = click.argument("folder", metavar="RUN", type=click.Path(exists=True, file_okay=False))


def setting_options(**defaults: object) -> Callable[[Decorated], Decorated]:
    """Give a command an option for every field of `Settings`; `defaults` replace those of `Settings`."""
    hints = get_type_hints(Settings)

    def decorate(command: Decorated) -> Decorated:
        each = fields(Settings)
        return decorated(
            command,
            [_option(field, hints[field.name], defaults.get(field.name, field.default)) for field in each],
        )

    return decorate


def take_settings(values: dict[str, Any]) -> Settings:
    """Take the options of `setting_options` out of the values of all options and return the settings."""
    return Settings(**{field.name: values.pop(field.name) for field in fields(Settings)})


def _option(field: Field[Any], hint: object, default: object) -> Callable[[Decorated], Decorated]:
    """Return the option for a setting: its name, type, default and help text."""
    name = field.name.replace("_", "-")
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    options: dict[str, Any] = {"default": default, "help": field.metadata["help"]}
    declarations = [f"--{name}"]
    if len(name) == 1:
        declarations.insert(0, f"-{name}")
    if hint is bool:
        declarations = [f"--{name}/--no-{name}"]
    elif get_origin(hint) is Literal:
        options["type"] = click.Choice(get_args(hint))
    elif any(get_origin(kind) is Literal for kind in kinds):
        options["type"] = NumberOrWord(next(get_args(kind) for kind in kinds if get_origin(kind) is Literal))
    else:
        (options["type"],) = kinds
    section = "Expert settings" if field.metadata["expert"] else "Settings"
    return click.option(
        *declarations, cls=Option, section=section, show_default=default is not None, **options
    )
