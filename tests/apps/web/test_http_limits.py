"""Slow requests over real sockets: given up in words, while honest ones are waited for."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from bruit.apps.web.application import application
from bruit.apps.web.security.connection_limits import fit
from bruit.apps.web.security.http_limits import LARGEST_HEAD, protocol
from bruit.apps.web.security.timeouts import RequestDeadline
from bruit.apps.web.settings import Settings, hash_secret

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]

IMPATIENT = RequestDeadline(seconds=1, bytes_a_second=1000, write_seconds=1)
FOREVER = 60
"""Seconds after which a test of a connection that is never closed fails instead of hanging."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """The whole application behind impatient connections."""
    database = f"sqlite:///{tmp_path_factory.mktemp('slow')}/b.db"
    settings = Settings(database=database, key_hash=hash_secret("key"), deadline=IMPATIENT)
    config = uvicorn.Config(
        application(settings), http=protocol(settings.deadline, fit(1024)), ws="none", log_config=None
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        yield listening.getsockname()
        server.should_exit = True
        thread.join(FOREVER)


@pytest.fixture
def line(address: tuple[str, int]) -> Iterator[Any]:
    with socket.create_connection(address, timeout=FOREVER) as made:
        yield made


def told(line: Any) -> Any:
    """Everything that comes until the server closes."""
    parts = []
    try:
        while part := line.recv(65536):
            parts.append(part)
    except ConnectionResetError:  # what was sent after the end
        pass
    return b"".join(parts)


def assert_given_up(answer: Any, status: int = 408) -> None:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"connection: close" in head
    assert json.loads(body)["detail"]


def post(path: Any, length: Any, *more: Any) -> Any:
    return "\r\n".join((f"POST {path} HTTP/1.1", "host: x", f"content-length: {length}", *more, "", "")).encode()


REPORT = b'{"token":"%s","round":1,"report":1}' % (b"ab" * 16)
REPORTS = "/api/polls/abcdefghjk/reports"


def test_who_connects_and_says_nothing_is_given_up(line: Any) -> None:
    assert_given_up(told(line))


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_an_address_that_is_no_path_is_refused(line: Any, method: str) -> None:
    line.sendall(f"{method} * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
    assert_given_up(told(line), 400)


def test_a_head_that_trickles_is_given_up(line: Any) -> None:
    for byte in b"GET /":
        line.sendall(bytes([byte]))
        time.sleep(0.1)
    assert_given_up(told(line))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (REPORTS, "application/json"),
        ("/api/polls", "application/json"),
        ("/polls/preview", "application/x-www-form-urlencoded"),
    ],
)
def test_a_body_that_stops_half_way_is_given_up(line: Any, path: str, kind: str) -> None:
    line.sendall(post(path, len(REPORT), f"content-type: {kind}", "authorization: Bearer key") + REPORT[:10])
    assert_given_up(told(line))


def test_who_is_refused_by_the_head_does_not_keep_the_connection_with_a_body(line: Any) -> None:
    line.sendall(post("/nothing", 1000) + b"x")
    answer = told(line)
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert answer.count(b"HTTP/1.1") == 1


def test_a_next_request_on_a_kept_connection_is_not_waited_for_either(line: Any) -> None:
    line.sendall(b"GET /static/base/icon.svg HTTP/1.1\r\nhost: x\r\n\r\n")
    first = line.recv(65536)
    assert first.startswith(b"HTTP/1.1 200 ")
    line.sendall(b"GET / HT")
    assert told(line).endswith(b'{"detail":"The request did not arrive in time; send it again."}')


def test_empty_lines_do_not_keep_a_connection(line: Any) -> None:
    line.sendall(b"GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n")
    assert line.recv(65536).startswith(b"HTTP/1.1 404 ")
    line.sendall(b"\r\n")
    assert b"HTTP" not in told(line)


def test_a_body_that_comes_fast_enough_is_waited_for(line: Any) -> None:
    """Longer than the deadline with who sends nothing: twenty thousand bytes are worth twenty seconds more."""
    line.sendall(post(REPORTS, len(REPORT), f"x-long: {'x' * 20_000}") + REPORT[:10])
    time.sleep(1.5 * IMPATIENT.seconds)
    line.sendall(REPORT[10:])
    assert line.recv(65536).startswith(b"HTTP/1.1 404 ")  # read whole, and of no poll


def test_patience_grows_with_what_came() -> None:
    assert RequestDeadline(seconds=20, bytes_a_second=1000).until(5.0, 0) == 25.0
    assert RequestDeadline(seconds=20, bytes_a_second=1000).until(5.0, 3000) == 28.0


def test_a_stream_of_events_is_not_a_slow_request(address: tuple[str, int]) -> None:
    """It was asked for whole; that it is silent afterwards is its nature."""
    head = post("/api/polls", len(DRAFT), "content-type: application/json", "authorization: Bearer key")
    with socket.create_connection(address, timeout=FOREVER) as steward:
        steward.sendall(head + DRAFT)
        identity = json.loads(steward.recv(65536).partition(b"\r\n\r\n")[2])["id"]
    with socket.create_connection(address, timeout=FOREVER) as stream:
        stream.sendall(f"GET /api/polls/{identity}/events HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        seen = b""
        while b"event: results" not in seen:
            seen += stream.recv(65536)
        time.sleep(1.5 * IMPATIENT.seconds)
        stream.settimeout(0)
        with pytest.raises(BlockingIOError):  # still open, and nothing to say
            stream.recv(1)


DRAFT = json.dumps(
    {"kind": "yes-no", "question": "?", "epsilon": "1", "forever": None, "results": "everyone", "password": ""}
).encode()


def test_a_head_without_end_is_refused(line: Any) -> None:
    start = b"GET / HTTP/1.1\r\nx-long: "
    line.sendall(start + b"x" * (LARGEST_HEAD + 1 - len(start)))
    assert_given_up(told(line), 431)
