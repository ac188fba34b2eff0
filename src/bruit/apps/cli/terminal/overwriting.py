"""Refuses a command that would write over a file that it also reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rich_click as click

OUTPUTS = {"--csv", "--figure", "--html", "--out", "--save", "--statement", "output", "target"}
"""The options and arguments that name files to write."""

SQLITE = "sqlite:///"


def refuse_overwriting(command: click.Command, given: dict[str, Any], context: click.Context) -> None:
    """Refuses an output that is one of the files read, or the database of the books.

    `given` are the parameters as typed.
    """
    outputs = {parameter.name for parameter in command.params if OUTPUTS & set(parameter.opts)}
    read = [Path(text) for name in set(given) - outputs for text in _texts(given[name])]
    for parameter in command.params:
        if parameter.name == "store":
            read += map(Path, _store(parameter, given))
    for text in (text for name in given if name in outputs for text in _texts(given[name])):
        if any(_is_same(Path(text), path) for path in read):
            raise click.UsageError(f"{text} is read by this command too: name another file to write", context)


def _store(parameter: click.Parameter, given: dict[str, Any]) -> Iterator[str]:
    """The file of a database, where the address names one."""
    context = click.Context(click.Command("store"), resilient_parsing=True)
    address = given.get("store") or parameter.value_from_envvar(context) or parameter.get_default(context)
    if isinstance(address, str) and address.startswith(SQLITE):
        yield address.removeprefix(SQLITE)


def _texts(value: object) -> Iterator[str]:
    """Every text of a value, which may be a list of lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _is_same(one: Path, other: Path) -> bool:
    """Whether both name one file that exists; no file where a text is no path, such as a question in SQL."""
    try:
        return one.is_file() and one.samefile(other)
    except (OSError, ValueError):
        return False
