"""Two servers on one host: cookies know no port, so their names do."""

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import HTTPConnection
from starlette.testclient import TestClient

from bruit.apps.web.application import application
from bruit.apps.web.security.cookies import cookie_name
from bruit.apps.web.settings import Settings, hash_secret


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("127.0.0.1:8000", "x_8000"),
        ("[::1]:8001", "x_8001"),
        ("polls.example.org", "x"),
        ("[::1]", "x"),
        ("a:b", "x"),
        ("a:٣", "x"),
        ("a:123456", "x"),
        ("", "x"),
    ],
)
def test_a_cookie_is_named_by_the_port_that_the_browser_uses(host: str, name: str) -> None:
    assert cookie_name("x", HTTPConnection({"type": "http", "headers": [(b"host", host.encode())]})) == name


def test_two_servers_on_one_host_do_not_disturb_each_other(tmp_path: Path) -> None:
    """One browser holds the cookies of both, enters the one and then the other, and is still known to the first."""
    with (
        TestClient(server(tmp_path, "one"), "http://localhost:8000") as one,
        TestClient(server(tmp_path, "two"), "http://localhost:8001") as two,
    ):
        two.cookies.jar = one.cookies.jar
        one.get("/enter/one")
        form = ticket(one)
        two.get("/enter/two")
        ticket(two)
        assert len(one.cookies.jar) == 4
        assert one.get("/polls/new").status_code == two.get("/polls/new").status_code == 200
        assert ticket(one) == form


def server(folder: Any, key: Any) -> Any:
    return application(Settings(database=f"sqlite:///{folder}/{key}.db", key_hash=hash_secret(key)))


def ticket(client: Any) -> Any:
    return re.search(r'name="csrf" content="(\w+)"', client.get("/").text)[1]
