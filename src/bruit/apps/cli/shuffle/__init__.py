"""`bruit shuffle`: runs a shuffler for a poll."""

from bruit.apps.cli.shuffle.commands import command

__all__ = ["command"]
