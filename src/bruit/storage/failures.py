"""Classifies database failures in words without values, paths or addresses, safe for logs and health checks."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class FailureKind(StrEnum):
    """The kinds of database failure."""

    FULL = "the disk of the database is full"
    CORRUPT = "the database file is damaged"
    LOCKED = "the database is locked by another program"
    READ_ONLY = "the database cannot be written"
    UNREACHABLE = "the database cannot be reached"
    TAKEN_OVER = "another server has taken the database over"
    OTHER = "the database failed"


_SQLITE: Final = {
    "SQLITE_FULL": FailureKind.FULL,
    "SQLITE_CORRUPT": FailureKind.CORRUPT,
    "SQLITE_NOTADB": FailureKind.CORRUPT,
    "SQLITE_IOERR": FailureKind.CORRUPT,
    "SQLITE_BUSY": FailureKind.LOCKED,
    "SQLITE_LOCKED": FailureKind.LOCKED,
    "SQLITE_READONLY": FailureKind.READ_ONLY,
    "SQLITE_CANTOPEN": FailureKind.UNREACHABLE,
}
_POSTGRES: Final = {"53100": FailureKind.FULL, "55P03": FailureKind.LOCKED, "XX001": FailureKind.CORRUPT}


def failure_kind(error: BaseException) -> FailureKind:
    """The kind of a failure, from the error code that the database driver gave."""
    from bruit.errors import DatabaseInUse

    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, DatabaseInUse):
            return FailureKind.TAKEN_OVER
        original = getattr(seen, "orig", None) or seen
        for name, kind in _SQLITE.items():
            if str(getattr(original, "sqlite_errorname", "")).startswith(name):
                return kind
        code = getattr(original, "sqlstate", None)
        if code in _POSTGRES:
            return _POSTGRES[code]
        if type(original).__module__.startswith("psycopg") and "OperationalError" in _names(original):
            return FailureKind.UNREACHABLE
        seen = seen.__cause__
    return FailureKind.OTHER


def _names(error: object) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}
