"""Options that several commands share; the options of a clustering are made from `Settings`."""

import os
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import click

from mdfuzzy._messages import TIME_UNITS, parse_time
from mdfuzzy.pipeline.settings import Settings

#: A function to which options are added, or the command made from it.
Decorated = TypeVar("Decorated", bound=Callable[..., Any] | click.Command)


class Option(click.Option):
    """An option with the heading under which the help lists it."""

    def __init__(self, *declarations: Any, section: str = "Options", **options: Any) -> None:
        super().__init__(*declarations, **options)
        self.section = section


class Command(click.Command):
    """A command whose help lists its options under headings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give --symmetry its default value if none follows; the next word may be a file."""
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


def output_option(help_text: str, default: str | None = None) -> Callable[[Decorated], Decorated]:
    """Return an option for the output folder."""
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
