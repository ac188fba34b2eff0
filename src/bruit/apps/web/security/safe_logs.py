"""Logs without private values: of messages that are not this application's own only the name is written."""

from __future__ import annotations

import logging
from typing import Final

OWN: Final = "bruit.web"
"""The logger whose messages are written by us, and never hold a value or a path."""


class Plain(logging.Formatter):
    """One line: the level, the logger, and the message where it is our own. Tracebacks are left out: they quote."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        said = f": {record.getMessage()}" if record.name == OWN else ""
        return f"{record.levelname} {record.name}{said}"


def write_plainly() -> None:
    """Sends every warning and error of this process, in that form, to the error stream."""
    handler = logging.StreamHandler()
    handler.setFormatter(Plain())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)


def place(error: BaseException) -> str:
    """The type of an exception and the line of code that raised it: no message, no value, no path."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "?" if trace is None else f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
    return f"{type(error).__name__} in {where}"
