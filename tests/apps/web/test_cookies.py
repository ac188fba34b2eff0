"""Two servers on one host: cookies know no port, so their names do."""

import re

import pytest
from starlette.requests import HTTPConnection
from starlette.testclient import TestClient

from bruit.apps.web.application import application
from bruit.apps.web.cookies import named
from bruit.apps.web.settings import Settings, hashed


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
def test_a_cookie_is_named_by_the_port_that_the_browser_uses(host, name):
    assert named("x", HTTPConnection({"type": "http", "headers": [(b"host", host.encode())]})) == name


def test_two_servers_on_one_host_do_not_disturb_each_other(tmp_path):
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


def server(folder, key):
    return application(Settings(database=f"sqlite:///{folder}/{key}.db", key_hash=hashed(key)))


def ticket(client):
    return re.search(r'name="csrf" content="(\w+)"', client.get("/").text)[1]
