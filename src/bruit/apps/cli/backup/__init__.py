"""`bruit backup`: copies a SQLite database to one file."""

from bruit.apps.cli.backup.commands import command

__all__ = ["command"]
