"""`bruit risk`: what a table gives away, as a report."""

from bruit.apps.cli.risk.commands import command

__all__ = ["command"]
