"""`bruit schema`: a draft of a schema."""

from bruit.apps.cli.schema.commands import command

__all__ = ["command"]
