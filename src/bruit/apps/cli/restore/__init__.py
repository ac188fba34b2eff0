"""`bruit restore`: puts a backup back."""

from bruit.apps.cli.restore.commands import command

__all__ = ["command"]
