"""The command `bruit` itself: lazy, and clear when it refuses."""

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import rich_click as click
from click.testing import CliRunner

from bruit.apps.cli import COMMANDS, main
from bruit.apps.cli.terminal.group import DeferredCommand, DeferredGroup
from bruit.errors import BudgetExceeded

HEAVY = ("numpy", "scipy", "numba", "polars", "sqlalchemy", "matplotlib", "sklearn", "torch", "statsmodels", "pandas")


def test_help_lists_every_command_and_loads_none() -> None:
    script = (
        "import sys\nfrom bruit.apps.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"print('LOADED', [name for name in {HEAVY!r} if name in sys.modules],"
        f" [name for name in sys.modules if name.startswith('bruit.apps.cli.') and name[15:] in {list(COMMANDS)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED [] []"
    assert all(line.split()[0] in done.stdout for line in COMMANDS)


@pytest.mark.parametrize("group", [[], ["survey"], ["ledger"]])
def test_a_group_alone_is_its_help_and_may_be_cut_by_a_pipe(group: list[str]) -> None:
    alone, asked = (CliRunner().invoke(main, [*group, *more]) for more in ([], ["-h"]))
    assert (alone.exit_code, alone.output) == (0, asked.output)
    bruit = Path(sys.executable).parent / "bruit"
    done = subprocess.run(
        f"{bruit} {' '.join(group)} | head -1", shell=True, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_shows_its_own_help_with_an_example_and_offers_json(name: str) -> None:
    shown = CliRunner().invoke(main, [name, "--help"])
    assert shown.exit_code == 0
    assert f"bruit {name}" in shown.output
    command = import_module(f"bruit.apps.cli.{name}").command
    leaves = command.commands.values() if isinstance(command, click.Group) else [command]
    assert all(any("--json" in option.opts for option in leaf.params) for leaf in leaves)


def options(command: click.Command) -> Iterator[tuple[str, click.Option]]:
    """Every option of a command and of those inside it."""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield f"{command.name} {parameter.opts[0]}", parameter
    for inner in getattr(command, "commands", {}).values():
        yield from options(inner)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is_for(name: str) -> None:
    command = main.commands[name]
    assert isinstance(command, DeferredCommand)
    assert [shown for shown, option in options(command.load()) if not option.help] == []


def refuse() -> None:
    raise BudgetExceeded("epsilon=1 was asked and 0.5 is left; ask for less")


def test_an_error_of_bruit_is_one_sentence_and_exit_status_2(monkeypatch: pytest.MonkeyPatch) -> None:
    group = DeferredGroup("group", package="bruit.apps.cli", lines={"demo": "A tour."})
    monkeypatch.setattr(group.commands["demo"], "load", lambda: click.Command("demo", callback=refuse))
    done = CliRunner().invoke(group, ["demo"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "bruit: epsilon=1 was asked and 0.5 is left; ask for less\n"


def test_a_misspelt_command_exits_with_2() -> None:
    done = CliRunner().invoke(main, ["adit"])
    assert done.exit_code == 2
    assert "adit" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["anonymise", "people.csv", "no/such/coarse.csv", "--quasi", "sex", "-k", "2"],
        ["risk", "people.csv", "--quasi", "sex", "--html", "no/such/page.html"],
        ["code", "envelope", "seal", "people.csv", "no/such/sealed"],
        ["code", "simulate", "hamming:3", "--channel", "symmetric", "--levels", "0.1", "--file", "no/such/rates"],
        ["data", "example", "no/such/people.csv"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_file_that_cannot_be_written_is_refused_in_words(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("sex,city\n" + "f,Lyon\nm,Lima\n" * 4, encoding="utf-8")
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "cannot be written: there is no folder no/such\n" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["anonymise", "people.csv", "people.csv", "--quasi", "sex", "-k", "2"],
        ["anonymise", "people.csv", "./people.csv", "--pseudonyms", "city"],
        ["risk", "people.csv", "--quasi", "sex", "--html", "people.csv"],
        ["code", "envelope", "seal", "people.csv", "people.csv"],
        ["survey", "decode", "reports.parquet", "--candidates", "people.csv", "--csv", "people.csv"],
        ["ask", "people.csv", "select 1", "--with", "other.csv", "people.csv", "--out", "x.csv", "--out", "other.csv"],
        ["learn", "people.csv", "--schema", "x.toml", "--out", "books.db", "--store", "sqlite:///books.db"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_read_is_never_written_over(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = "sex,city\n" + "f,Lyon\nm,Lima\n" * 4
    for name in ("people.csv", "other.csv", "books.db"):
        Path(name).write_text(table, encoding="utf-8")
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "name another file to write" in done.stderr
    assert {Path(name).read_text(encoding="utf-8") for name in ("people.csv", "other.csv", "books.db")} == {table}


def test_a_file_that_is_not_read_is_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("sex,city\n" + "f,Lyon\nm,Lima\n" * 4, encoding="utf-8")
    Path("coarse.csv").write_text("old", encoding="utf-8")
    done = CliRunner().invoke(main, ["anonymise", "people.csv", "coarse.csv", "--quasi", "sex", "-k", "2"])
    assert done.exit_code == 0, done.output
    assert Path("coarse.csv").read_text(encoding="utf-8").startswith("sex")
