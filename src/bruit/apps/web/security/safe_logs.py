"""Logs without private values: messages of other packages are reduced to the logger's name."""

from __future__ import annotations

import logging
from typing import Final

OWN: Final = "bruit.web"
"""The logger whose messages are written by us, and never hold a value or a path."""


class Plain(logging.Formatter):
    """A log formatter of one line: level, logger, and message if it is our own; no traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The log line of a record."""
        said = f": {record.getMessage()}" if record.name == OWN else ""
        return f"{record.levelname} {record.name}{said}"


def write_plainly() -> None:
    """Sends this process's warnings and errors to the error stream in that format."""
    handler = logging.StreamHandler()
    handler.setFormatter(Plain())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)


def place(error: BaseException) -> str:
    """The type of an exception and the line of code that raised it, without message, value or path."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "?" if trace is None else f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
    return f"{type(error).__name__} in {where}"
