"""The command `bruit` itself: lazy, and clear when it refuses."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import rich_click as click
from click.testing import CliRunner

from bruit.apps.cli import COMMANDS, main
from bruit.apps.cli.terminal.group import DeferredGroup
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
    assert "no/such" in done.stderr
    assert "cannot be written" in done.stderr
