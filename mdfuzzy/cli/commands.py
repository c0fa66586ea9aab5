"""All commands, in the order in which the help lists them."""

from mdfuzzy.cli import assign, compare, demo, export, info, kinetics, plot, report, run, seeds
from mdfuzzy.cli.program import commands, main

__all__ = ["main"]

for each in (demo, run, compare, assign, kinetics, plot, export, seeds, report, info):
    commands.add_command(each.command)
