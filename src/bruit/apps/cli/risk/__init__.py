"""`bruit risk`: the disclosure-risk report of a table."""

from bruit.apps.cli.risk.commands import command

__all__ = ["command"]
