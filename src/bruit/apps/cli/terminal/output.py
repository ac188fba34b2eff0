"""What commands print: JSON for machines; tables, paragraphs and a progress bar for people."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import rich_click as click
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from bruit.errors import InvalidArgument

Function = TypeVar("Function", bound=Callable[..., Any])
OnProgress = Callable[[int, int], None]
"""Told how much of how much is done."""


def json_option(command: Function) -> Function:
    """Gives a command the option `--json`, received as the keyword `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for machines instead of tables.")(command)


def print_json(value: Any) -> None:
    """Prints one JSON document on the standard output; NumPy numbers and fractions become plain numbers.

    JSON knows no infinities: what is infinite, or no number, is null.
    """
    click.echo(json.dumps(_strict(value), ensure_ascii=False, indent=2, allow_nan=False))


def show(*parts: RenderableType) -> None:
    """Prints texts (with rich's markup), tables and panels for people."""
    console = Console(highlight=False)
    for part in parts:
        console.print(part)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table whose columns are aligned right where the first row holds a number."""
    cells = [list(row) for row in rows]
    drawn = Table(
        title=title, title_justify="left", title_style="bold", header_style="bold", min_width=min(len(title), 78)
    )
    for number, column in enumerate(columns):
        is_number = bool(cells) and isinstance(cells[0][number], int | float)
        drawn.add_column(column, justify="right" if is_number else "left", overflow="fold")
    for row in cells:
        drawn.add_row(*map(_text, row))
    return drawn


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns a failure to write a path into a bruit error that names the path."""
    try:
        yield
    except OSError as error:
        missing = f"there is no folder {path.parent}"
        why = (error.strerror or str(error)) if path.parent.is_dir() else missing
        raise InvalidArgument(f"{path} cannot be written: {why}") from error


@contextmanager
def progress(label: str, *, quiet: bool = False) -> Iterator[OnProgress]:
    """Yields a callback that draws a progress bar on the error stream, or nothing if `quiet` or not a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _strict(value: Any) -> Any:
    """The same value in JSON's own types; NaN and infinities become null."""
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | int | None):
        return value
    return _strict(value.tolist() if hasattr(value, "tolist") else float(value))
