"""`bruit restore`."""

from bruit.apps.cli.restore.commands import command

__all__ = ["command"]
