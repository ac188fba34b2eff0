"""The Tab key: what is printed, where it is written, and what it then offers."""

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from bruit.apps.cli import COMMANDS, main
from bruit.apps.cli.completion.commands import FILES


def offered(arguments: list[str], typed: str) -> set[str]:
    return {
        item.value for item in ShellComplete(main, {}, "bruit", "_BRUIT_COMPLETE").get_completions(arguments, typed)
    }


def test_commands_and_their_options_are_offered() -> None:
    assert offered([], "") == set(COMMANDS)
    assert offered([], "le") == {"learn", "ledger"}
    assert {"--epsilon", "--premium"} <= offered(["belief"], "--")
    assert "create" in offered(["ledger"], "")


@pytest.mark.parametrize("shell", sorted(FILES))
def test_the_script_is_written_where_the_shell_looks(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    done = CliRunner().invoke(main, ["completion", "--install", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert Path(told["written"]) == tmp_path / FILES[shell]
    assert (tmp_path / FILES[shell]).read_text() == told["script"]
    assert "_BRUIT_COMPLETE" in told["script"]
    assert told["script"] in CliRunner().invoke(main, ["completion", shell]).stdout


def test_an_unknown_shell_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    done = CliRunner().invoke(main, ["completion"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "bruit completion bash|fish|zsh" in done.stderr
