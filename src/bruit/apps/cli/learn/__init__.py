"""`bruit learn`: fits a model to a file, paid from a ledger, and writes it with its card."""

from bruit.apps.cli.learn.commands import command

__all__ = ["command"]
