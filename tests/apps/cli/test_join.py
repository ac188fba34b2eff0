"""`bruit join`: what it refuses before it asks anybody. The walk with a server stands in tests/apps/web/collectors."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from bruit.apps.cli.join import command
from bruit.errors import InvalidArgument, ProtocolError


@pytest.mark.parametrize("link", ["", "https://school.example", "collectors/join/x", "https:///collectors/join/x"])
def test_a_link_that_is_no_invitation_is_refused(link: str, tmp_path: Path) -> None:
    asked = [link, "--name", "The library", "--store", f"sqlite:///{tmp_path}/second.db"]
    refused = CliRunner().invoke(command, asked)
    assert isinstance(refused.exception, InvalidArgument)
    assert "this is no invitation" in str(refused.exception)
    assert not (tmp_path / "second.db").exists()


def test_a_first_collector_that_does_not_answer_is_said(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="split polls need bruit[collectors]")
    link = "http://127.0.0.1:9/collectors/join/secret"
    refused = CliRunner().invoke(command, [link, "--name", "x", "--store", f"sqlite:///{tmp_path}/second.db"])
    assert isinstance(refused.exception, ProtocolError)
    assert "does not answer" in str(refused.exception)


def test_a_second_collector_has_a_name() -> None:
    refused = CliRunner().invoke(command, ["https://school.example/collectors/join/x"])
    assert refused.exit_code == 2
    assert "--name" in refused.output
