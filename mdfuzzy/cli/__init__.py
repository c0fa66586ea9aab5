"""The command line: one file for each command. It computes nothing: options in, calls of the package."""

from mdfuzzy.cli import assign, demo, export, info, plot, report, run
from mdfuzzy.cli.program import commands, main

__all__ = ["main"]

for each in (demo, run, assign, plot, export, report, info):
    commands.add_command(each.command)
