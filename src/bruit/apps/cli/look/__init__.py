"""`bruit look`: shows a table's curator, exactly, how its cells are read."""

from bruit.apps.cli.look.commands import command

__all__ = ["command"]
