"""The examples below each command's help can be copied into a shell."""

import shlex
from collections.abc import Iterator
from importlib import import_module

import pytest
import rich_click as click
from click.testing import CliRunner
from rich.text import Text

from bruit.apps.cli import COMMANDS, main
from bruit.apps.cli.terminal.examples import EDGE, WIDEST, examples


def commands(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """A command and those inside it, by the words that call them."""
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))


def shown(text: Text) -> list[str]:
    """The lines that a shell would run: continued ones joined, remarks left out."""
    lines = text.plain.replace(" \\\n", " ").splitlines()[1:]
    return [line.strip() for line in lines if not line.strip().startswith("#")]


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_long_command_goes_on_as_a_shell_reads_it(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    command = "bruit ledger create clinic --epsilon 3 --delta 1e-5 --neighbours 'add or remove one' --person id"
    text = examples(command, "# a remark", "bruit demo")
    assert all(len(line) <= min(columns - EDGE, WIDEST) for line in text.plain.splitlines())
    assert [shlex.split(line) for line in shown(text)] == [shlex.split(command), ["bruit", "demo"]]
    assert "--neighbours 'add or remove one'" in text.plain  # no option is parted from its value


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_example_is_one_that_its_command_takes(name: str) -> None:
    for words, command in commands(import_module(f"bruit.apps.cli.{name}").command, ("bruit", name)):
        assert isinstance(command.epilog, Text), words
        for line in shown(command.epilog):
            called, *arguments = shlex.split(line.partition(" > ")[0])
            assert [called, *arguments][: len(words)] == list(words)
            assert_parsed(arguments)


def assert_parsed(arguments: list[str]) -> None:
    """Every word is known to the command that it is given to; nothing is run."""
    command: click.Command = import_module(f"bruit.apps.cli.{arguments[0]}").command
    name, *rest = arguments
    while isinstance(command, click.Group):
        name, *rest = rest
        command = command.commands[name]
    command.make_parser(click.Context(command)).parse_args(rest)


def test_the_first_steps_are_whole_lines() -> None:
    said = CliRunner().invoke(main, [], terminal_width=80).output
    assert "   bruit data example people.csv   # a table to try things on" in said
