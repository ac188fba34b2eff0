"""`bruit backup`."""

from bruit.apps.cli.backup.commands import command

__all__ = ["command"]
