"""`bruit ask`: a SELECT over a file under its schema."""

from bruit.apps.cli.ask.commands import command

__all__ = ["command"]
