"""`bruit survey`: plan, randomise and estimate answers on the command line."""

from bruit.apps.cli.survey.commands import command

__all__ = ["command"]
