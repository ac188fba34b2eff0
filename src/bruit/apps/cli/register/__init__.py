"""`bruit register`: records a table and its version in a ledger."""

from bruit.apps.cli.register.commands import command

__all__ = ["command"]
