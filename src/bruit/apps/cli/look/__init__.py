"""`bruit look`: exact figures of how a table is read, for its curator only."""

from bruit.apps.cli.look.commands import command

__all__ = ["command"]
