"""`bruit schema`: drafts the schema of a file."""

from bruit.apps.cli.schema.commands import command

__all__ = ["command"]
