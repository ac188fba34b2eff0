"""`bruit code`: check digits and error-correcting codes on the command line."""

from bruit.apps.cli.code.commands import command

__all__ = ["command"]
