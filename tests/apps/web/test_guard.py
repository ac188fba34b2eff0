"""What stands before every page: refusals by rate, size and origin, and errors that tell nothing."""

import logging
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from bruit.apps.web.digits import read_digits
from bruit.apps.web.security.middleware import Guard
from bruit.apps.web.security.rate_limits import Buckets, Rate, network
from bruit.apps.web.security.safe_logs import Plain, place
from bruit.errors import StorageError

SECRET = "salary 123456 in /srv/payroll.csv"


async def break_down(request: Request) -> PlainTextResponse:
    raise ValueError(SECRET)


async def count(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


def guarded(burst: int = 100, limit: int = 1000) -> Any:
    inner = Starlette(
        routes=[Route("/broken", break_down, methods=["GET", "POST"]), Route("/count", count, methods=["POST"])]
    )
    inner.state.parts = ()
    rates = {"any": Rate(per_second=0.001, burst=burst)}
    return TestClient(
        Guard(inner, rates=rates, kind_of=lambda scope: "any", body_limit=lambda scope: limit),
        raise_server_exceptions=True,
    )


def test_rule_2_no_error_page_and_no_log_line_holds_a_value(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for headers in ({}, {"accept": "application/json"}):
            answer = guarded().get("/broken", headers=headers)
            assert answer.status_code == 500
            assert SECRET not in answer.text
    assert [record.getMessage().split(" in ")[0] for record in caplog.records if record.name == "bruit.web"] == [
        "ValueError",
        "ValueError",
    ]
    assert not [record for record in caplog.records if "123456" in record.getMessage() or record.exc_info]


def test_rule_2_what_other_libraries_log_is_not_written() -> None:
    """asyncio and SQLAlchemy put messages of exceptions, and so perhaps values and paths, into their own records."""
    try:
        raise ValueError(SECRET)
    except ValueError:
        quoted = sys.exc_info()
    for name in ("asyncio", "sqlalchemy.pool", "uvicorn.error"):
        record = logging.LogRecord(name, logging.ERROR, SECRET, 1, "lost %s", (SECRET,), quoted)
        assert Plain().format(record) == f"ERROR {name}"
    own = logging.LogRecord("bruit.web", logging.ERROR, SECRET, 1, "%s", (place(quoted[1]),), quoted)
    assert Plain().format(own).startswith("ERROR bruit.web: ValueError in ")
    assert SECRET not in Plain().format(own)


def test_who_asks_too_often_is_told_when_to_come_again() -> None:
    client = guarded(burst=3)
    assert [client.post("/count").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert int(client.post("/count").headers["retry-after"]) > 0


def test_a_bucket_fills_with_time_and_is_per_client() -> None:
    now = [0.0]
    buckets = Buckets(Rate(per_second=2, burst=1), clock=lambda: now[0])
    assert buckets.take("a") == 0
    assert buckets.take("a") == pytest.approx(0.5)
    assert buckets.take("b") == 0
    now[0] = 0.5
    assert buckets.take("a") == 0


def test_a_body_beyond_the_limit_is_refused_whatever_its_length_says() -> None:
    client = guarded(limit=1000)
    assert client.post("/count", content=b"x" * 1000).text == "1000"
    assert client.post("/count", content=b"x" * 1001).status_code == 413
    assert client.post("/count", content=iter([b"x" * 600, b"x" * 600])).status_code == 413
    for length in ("abc", "0" * 5000, "1" * 5000):
        assert client.post("/count", content=b"x", headers={"content-length": length}).status_code == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://testserver"}, 200),
        ({"origin": "http://elsewhere"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_only_this_site_changes_something(headers: dict[str, Any], status: int) -> None:
    assert guarded().post("/count", headers=headers).status_code == status


def test_one_network_of_ipv6_is_one_client() -> None:
    """Whoever has one address of the new kind has 2^64 of them: each would be a fresh bucket of passwords."""
    assert network("2001:db8:1:2::1") == network("2001:db8:1:2:ffff::9")
    assert network("2001:db8:1:2::1") != network("2001:db8:1:3::1")
    assert network("::ffff:192.0.2.7") == network("192.0.2.7") == "192.0.2.7"
    assert network("fe80::1%eth0") == network("fe80::2")
    assert network("no:address") == "no:address"


def test_a_host_that_is_too_long_for_a_link_is_refused() -> None:
    assert guarded().post("/count", headers={"host": "a" * 400}).status_code == 400


def test_a_request_names_its_host_once() -> None:
    """Two names could be checked by one and linked by the other."""
    twice = guarded().post("/count", headers=[("host", "a.example"), ("host", "b.example")])
    assert (twice.status_code, "host once" in twice.text) == (400, True)
    assert guarded().post("/count", headers={"host": "a.example"}).status_code == 200


@pytest.mark.parametrize("text", ["", "²", "٣", "-1", "+1", "1.0", " 1", "8", "9" * 5000])
def test_a_number_of_a_stranger_is_read_or_is_none(text: str) -> None:
    assert read_digits(text, most=7) is None
    assert read_digits("7", most=7) == 7


def test_every_answer_has_the_headers() -> None:
    answer = guarded().post("/count")
    assert "script-src 'self';" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_an_error_of_the_database_does_not_show_its_address(tmp_path: Path) -> None:
    from bruit.apps.web.application import application
    from bruit.apps.web.settings import Settings, hash_secret

    app = application(Settings(database=f"sqlite:///{tmp_path}/b.db", key_hash=hash_secret("key")))

    @app.get("/away")
    async def away() -> None:
        raise StorageError(f"sqlite:///{tmp_path}/b.db cannot be used: disk I/O error")

    with TestClient(app) as client:
        answer = client.get("/away")
    assert answer.status_code == 503
    assert str(tmp_path) not in answer.text
