"""`bruit serve` starts with one command and says in words why it cannot."""

import importlib.util
import json
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from bruit.apps.cli import main


def refused(*options: Any) -> Any:
    """What the command says when it does not start."""
    ended = CliRunner().invoke(main, ["serve", *options])
    assert ended.exit_code == 2, ended.output
    return " ".join(ended.output.split())


def test_a_taken_port_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = refused("--port", port, "--database", f"sqlite:///{tmp_path}/b.db")
    assert f"port {port} of 127.0.0.1 is taken" in said
    assert "--port" in said


def test_a_database_out_of_reach_is_said() -> None:
    said = refused("--database", "postgresql+psycopg://ada:s3cret@127.0.0.1:1/none")
    assert "cannot be used" in said
    assert "s3cret" not in said
    assert "is not an address" in refused("--database", "bruit.db")


@pytest.mark.parametrize(
    "key", ["short", "a" * 40, "abababababababababababab", "twenty-one-characters", "with spaces " * 3]
)
def test_a_key_that_could_be_guessed_is_refused(tmp_path: Path, key: Any) -> None:
    assert "at least 22" in refused("--key", key, "--database", f"sqlite:///{tmp_path}/b.db")


def test_an_address_for_links_is_an_address(tmp_path: Path) -> None:
    said = refused("--public-url", "polls.example.org", "--port", "0", "--database", f"sqlite:///{tmp_path}/b.db")
    assert "https://polls.example.org" in said
    said = refused("--public-url", "https://example.org/polls", "--database", f"sqlite:///{tmp_path}/b.db")
    assert "host name of its own" in said


def test_a_missing_extra_prints_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr("bruit.apps.extras.find_spec", lambda name: None if name == "segno" else real(name))
    assert "pip install 'bruit[web]'" in refused()


@pytest.mark.service
@pytest.mark.xdist_group("web")
def test_the_stewards_link_opens_the_stewards_pages(site: Any) -> None:
    with httpx.Client(base_url=site.address, follow_redirects=True) as client:
        assert client.get("/polls/new").status_code == 401
        assert client.get(f"/enter/{site.key}").status_code == 200
        assert client.get("/polls/new").status_code == 200


@pytest.mark.service
@pytest.mark.xdist_group("web")
def test_the_description_of_the_collector_is_served(site: Any) -> None:
    with site.client() as client:
        described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {
        "/api/polls",
        "/api/polls/{identity}",
        "/api/polls/{identity}/admissions",
        "/api/polls/{identity}/reports",
        "/api/polls/{identity}/reports/many",
        "/api/polls/{identity}/results",
    }
    assert json.dumps(described).count("Refused") > 0
