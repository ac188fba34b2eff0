"""`bruit register`: a table and its version, written into a book."""

from bruit.apps.cli.register.commands import command

__all__ = ["command"]
