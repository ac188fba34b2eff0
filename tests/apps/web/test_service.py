"""Run like a service: https, sessions that end, one server a database, failures that are said, and a clean end."""

import datetime
import ipaddress
import json
import logging
import re
import resource
import shutil
import socket
import sqlite3
import ssl
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import event
from starlette.testclient import TestClient

from bruit.apps.cli import main
from bruit.apps.web.application import application
from bruit.apps.web.security.connection_limits import Connections, StreamCount, fit
from bruit.apps.web.security.failure_log import FailureLog
from bruit.apps.web.settings import Settings, hash_secret
from bruit.errors import StorageError
from bruit.storage import FailureKind, connect, failure_kind

QUESTION = {"kind": "yes-no", "question": "?", "epsilon": "1", "forever": None, "results": "everyone", "password": ""}
STEWARD = {"authorization": "Bearer key"}


def server(folder: Any, name: str = "b", **settings: Any) -> Any:
    return application(Settings(database=f"sqlite:///{folder}/{name}.db", key_hash=hash_secret("key"), **settings))


def csrf(client: Any) -> Any:
    return re.search(r'name="csrf" content="(\w+)"', client.get("/").text)[1]


# ------------------------------------------------------------ sessions, rates, one server
def test_the_cookie_is_a_session_that_can_be_revoked_on_every_device(tmp_path: Path) -> None:
    with TestClient(server(tmp_path), "http://localhost:8000") as one:
        two = TestClient(one.app, "http://localhost:8000")
        for device in (one, two):
            device.get("/enter/key")
            assert "key" not in device.cookies.values()
            assert device.get("/polls/new").status_code == 200
        held = dict(one.cookies)
        assert one.post("/leave/here", data={"csrf": csrf(one)}).status_code == 200
        again = TestClient(one.app, "http://localhost:8000", cookies=held)  # a copy of the cookie opens nothing
        assert (again.get("/polls/new").status_code, two.get("/polls/new").status_code) == (401, 200)
        assert two.post("/leave/everywhere", data={"csrf": csrf(two)}).status_code == 200
        assert two.get("/polls/new").status_code == 401


def test_sessions_survive_a_restart_and_end_with_the_key(tmp_path: Path) -> None:
    with TestClient(server(tmp_path), "http://localhost:8000") as before:
        before.get("/enter/key")
        held = dict(before.cookies)
    with TestClient(server(tmp_path), "http://localhost:8000", cookies=held) as after:
        assert after.get("/polls/new").status_code == 200
    other = application(Settings(database=f"sqlite:///{tmp_path}/b.db", key_hash=hash_secret("another")))
    with TestClient(other, "http://localhost:8000", cookies=held) as stranger:
        assert stranger.get("/polls/new").status_code == 401


def test_anonymous_posts_do_not_lock_the_teacher_out(tmp_path: Path) -> None:
    with TestClient(server(tmp_path)) as client:
        poll = client.post("/api/polls", json=QUESTION, headers=STEWARD).json()["id"]
        client.get("/enter/key")
        token = csrf(client)
        stranger = TestClient(client.app)
        refused = [stranger.post(f"/polls/{poll}/close").status_code for _ in range(230)]
        assert (refused[0], refused[-1]) == (403, 429)
        assert client.post(f"/polls/{poll}/close", data={"csrf": token}, follow_redirects=False).status_code == 303


def test_reports_are_rated_not_requests(tmp_path: Path) -> None:
    with TestClient(server(tmp_path)) as client:
        poll = client.post("/api/polls", json=QUESTION, headers=STEWARD).json()["id"]

        def send(start: Any) -> Any:
            lines = [{"token": f"{start + at:032x}", "round": 1, "report": 1} for at in range(500)]
            return client.post(f"/api/polls/{poll}/reports/many", json={"reports": lines}).status_code

        said = [send(500 * at) for at in range(8)]
        assert said[:6] == [200] * 6  # three thousand at once: a lecture hall
        assert said[-1] == 429
        results = client.get(f"/api/polls/{poll}/results").json()
        assert results["answers"] < 3600
        assert results["beyond"] == ["no", "yes"]  # and no crowd whatever says yes three thousand times
        assert "false" in client.get(f"/polls/{poll}/estimates.csv").text


def test_a_second_server_on_one_database_is_refused_with_the_reason(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/b.db"
    with TestClient(server(tmp_path)):
        ended = CliRunner().invoke(main, ["serve", "--port", "0", "--database", database])
    assert ended.exit_code == 2
    assert "another server runs on this database" in " ".join(ended.output.split())


# ------------------------------------------------------------ a clean end, and failures
def test_after_a_clean_stop_the_file_alone_holds_everything(tmp_path: Path) -> None:
    with TestClient(server(tmp_path)) as client:
        poll = client.post("/api/polls", json=QUESTION, headers=STEWARD).json()["id"]
        assert client.post(f"/api/polls/{poll}/reports", json={"token": "ab" * 16, "round": 1, "report": 1}).json()[
            "counted"
        ]
    assert not (tmp_path / "b.db-wal").exists()
    assert oct((tmp_path / "b.db").stat().st_mode)[-3:] == "600"
    shutil.copy(tmp_path / "b.db", tmp_path / "copy.db")
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        assert copy.execute("SELECT count(*) FROM bruit_reports").fetchone() == (1,)


def test_a_full_disk_is_logged_once_without_a_value_and_ends_when_there_is_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = server(tmp_path)
    with TestClient(app) as client, caplog.at_level(logging.ERROR):
        poll = client.post("/api/polls", json=QUESTION, headers=STEWARD).json()["id"]
        assert client.get("/health").json() == {"status": "ok"}
        pages = ["1"]  # SQLite takes as many as it has

        def limit(connection: Any) -> None:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages[0]}")

        engine = connect(app.state.settings.database)
        event.listen(engine, "begin", limit)
        lines = [{"token": f"{at:032x}", "round": 1, "report": 1} for at in range(500)]

        def send() -> Any:
            return client.post(f"/api/polls/{poll}/reports/many", json={"reports": lines})

        assert {send().status_code for _ in range(3)} == {503}
        assert client.get("/health").json() == {"status": FailureKind.FULL.value}
        pages[0] = "1000000"
        assert send().json() == {"accepted": 500, "counted": 500}
        assert client.get("/health").status_code == 200
        event.remove(engine, "begin", limit)
    assert [record.getMessage() for record in caplog.records] == [FailureKind.FULL.value]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SQLITE_FULL", FailureKind.FULL),
        ("SQLITE_CORRUPT_VTAB", FailureKind.CORRUPT),
        ("SQLITE_NOTADB", FailureKind.CORRUPT),
        ("SQLITE_BUSY", FailureKind.LOCKED),
        ("SQLITE_READONLY", FailureKind.READ_ONLY),
    ],
)
def test_every_kind_of_failure_has_its_line_once_a_minute(
    name: Any, kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    original = sqlite3.OperationalError("salary 123456 in /srv/payroll.db")
    original.sqlite_errorname = name
    error = StorageError("/srv/payroll.db cannot be used")
    error.__cause__ = original
    assert failure_kind(error) is kind
    now = [0.0]
    failures = FailureLog(clock=lambda: now[0])
    for now[0] in (0.0, 1.0, 59.0, 61.0):
        failures.note(error)
    assert [record.getMessage() for record in caplog.records] == [kind.value] * 2
    assert failures.current is kind


def test_a_damaged_file_is_said_where_a_server_starts(tmp_path: Path) -> None:
    (tmp_path / "b.db").write_bytes(b"no database at all, but long enough to be read as one" * 40)
    with pytest.raises(StorageError) as failed, TestClient(server(tmp_path)):
        pass
    assert failure_kind(failed.value) is FailureKind.CORRUPT


# ------------------------------------------------------------ held open
class Line:
    def __init__(self) -> None:
        self.closed = False

    def give_up(self) -> None:
        self.closed = True


def test_connections_that_wait_make_room_and_those_at_work_are_kept() -> None:
    held = Connections(fit(32 + 96))
    lines = [Line() for _ in range(24)]
    assert all(held.add(line, "a") for line in lines)  # three quarters of 32 are one address's
    held.work(lines[0])
    late = Line()
    assert held.add(late, "a")
    assert [line.closed for line in lines[:3]] == [False, True, False]
    held.remove(lines[1], "a")
    for line in (*lines[2:], late):
        held.work(line)
    assert not held.add(Line(), "a")  # all are being answered
    assert held.add(Line(), "b")


def test_streams_leave_places_for_reports_for_others_and_for_people_signed_in() -> None:
    limits = fit(1024)
    streams = StreamCount(limits)
    mine = [streams.enter("a", signed_in=False) for _ in range(1012)]
    assert sum(mine) == limits.streams_per_address < limits.connections // 2
    crowd = [streams.enter(f"b{at}", signed_in=False) for at in range(2000)]
    assert sum(mine) + sum(crowd) == limits.anonymous_streams
    assert streams.enter("a", signed_in=True)
    for _ in range(sum(mine)):
        streams.leave("a", signed_in=False)
    assert streams.enter("a", signed_in=False)
    assert limits.streams <= limits.connections // 2 <= 1024 - limits.connections // 2


@pytest.mark.service
@pytest.mark.xdist_group("web")
def test_a_thousand_idle_streams_of_one_address_stop_no_report(serve: Any, tmp_path: Path) -> None:
    """Under the usual limit of 1024 open files, which such streams once used up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    site = serve(f"sqlite:///{tmp_path}/b.db", descriptors=1024)
    with site.steward() as client:
        poll = client.post("/api/polls", json=QUESTION).json()["id"]
    host, port = site.address.removeprefix("http://").split(":")
    asking = f"GET /api/polls/{poll}/events HTTP/1.1\r\nhost: x\r\n\r\n".encode()
    with ExitStack() as stack:
        for _ in range(1012):
            line = stack.enter_context(socket.create_connection((host, int(port)), timeout=30))
            line.sendall(asking)
        with site.client() as client:
            report = {"token": "ab" * 16, "round": 1, "report": 1}
            assert client.post(f"/api/polls/{poll}/reports", json=report).json()["counted"]
            assert client.get("/health").json() == {"status": "ok"}
            with client.stream("GET", f"/api/polls/{poll}/events") as refused:
                assert refused.status_code == 503
        with site.steward() as client, client.stream("GET", f"/api/polls/{poll}/events") as kept:
            assert kept.status_code == 200
    assert site.stop() == ""


# ------------------------------------------------------------ https
@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    folder, key = tmp_path_factory.mktemp("tls"), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    return folder


@pytest.mark.service
@pytest.mark.xdist_group("web")
def test_two_hosts_over_https_count_a_split_poll_and_a_poll_with_cards(
    serve: Any, certificate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The walk of two collectors with TLS, and of one person, one card; secure cookies and HSTS on the way."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    options = ("--tls-cert", str(certificate / "cert.pem"), "--tls-key", str(certificate / "key.pem"))
    trusted = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    site = serve(f"sqlite:///{tmp_path}/school.db", 0, options, trusted)
    assert site.address.startswith("https://")
    with site.client() as client:
        entered = client.get(f"/enter/{site.key}")
        assert entered.headers["strict-transport-security"] == "max-age=31536000"
        assert "secure" in entered.headers["set-cookie"].lower()
    _count_between_two(site, tmp_path)
    _count_cards(site)


def _count_between_two(site: Any, folder: Any) -> None:
    from bruit.apps.web.collectors.second import SecondCollector
    from bruit.apps.web.collectors.split_client import SplitPollClient

    asked = {"question": "?", "kind": "yes-no", "labels": ["yes"], "epsilon": "1000", "least_batch": 10}
    with site.steward() as steward:
        named = asked | {"name": "The school", "address": site.address}
        link = steward.post("/collectors/api/invitations", json=named).json()["link"]
        second = SecondCollector(link, f"sqlite:///{folder}/library.db", name="The library")
        client = SplitPollClient(site.address, second.task.name)
        for answer in [1] * 7 + [0] * 4:
            assert client.answer(answer)
        assert steward.post(f"/collectors/api/{second.task.name}/close").json() == {"received": 11}
    second.follow(wait=0.1)
    assert json.loads(second.collector.release)["value"] == [7]


def _count_cards(site: Any) -> None:
    from bruit.apps.web import NotDelivered, PollClient

    with site.steward() as steward:
        poll = steward.post("/api/polls", json=QUESTION | {"admission": "cards"}).json()["id"]
        form = {"csrf": csrf(steward), "count": "2"}
        codes = re.findall(rf"/p/{poll}#(\w+)", steward.post(f"/polls/{poll}/cards", data=form).text)
    assert len(codes) == 2
    with pytest.raises(NotDelivered, match="cards only"):
        PollClient(f"{site.address}/p/{poll}").answer("yes")
    one = PollClient(f"{site.address}/p/{poll}#{codes[0]}")
    assert one.answer("yes")
    assert not one.answer("no")  # the same card: known, not counted
    with pytest.raises(NotDelivered, match="used on another device"):
        PollClient(f"{site.address}/p/{poll}#{codes[0]}").answer("no")
    assert PollClient(f"{site.address}/p/{poll}#{codes[1]}").answer("no")
    with site.client() as client:
        assert client.get(f"/api/polls/{poll}/results").json()["answers"] == 2


def test_https_files_that_do_not_fit_are_refused_before_the_start(certificate: Any, tmp_path: Path) -> None:
    cert, key = str(certificate / "cert.pem"), str(certificate / "key.pem")
    for options in (("--tls-cert", cert), ("--tls-cert", key, "--tls-key", cert)):
        ended = CliRunner().invoke(main, ["serve", *options, "--database", f"sqlite:///{tmp_path}/b.db"])
        assert ended.exit_code == 2
        assert "tls" in ended.output
