"""`bruit shuffle`."""

from bruit.apps.cli.shuffle.commands import command

__all__ = ["command"]
