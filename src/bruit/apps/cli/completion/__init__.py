"""`bruit completion`: the Tab key completes commands and options."""

from bruit.apps.cli.completion.commands import command

__all__ = ["command"]
