"""Read and write transactions; database failures are raised as bruit's own errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bruit.errors import StorageError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.exc import SQLAlchemyError


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Opens an atomic write transaction, which holds SQLite's write lock from its start."""
    with _in_words(engine), engine.begin() as connection:
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Opens a read transaction that sees one state of the database and waits for no writer."""
    with _in_words(engine), engine.connect().execution_options(reads=True) as connection, connection.begin():
        yield connection


@contextmanager
def _in_words(engine: Engine) -> Iterator[None]:
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except SQLAlchemyError as error:
        raise StorageError(_message(engine, error)) from error


def _message(engine: Engine, error: SQLAlchemyError) -> str:
    reason = str(getattr(error, "orig", None) or error).strip()
    return f"{engine.url.render_as_string(hide_password=True)} cannot be used: {reason}"
