"""Killed and restarted under load: every accepted report is there, none is counted twice."""

import secrets
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from bruit.apps.web.polls.store import ReportStore

on_postgres = pytest.param("postgres", marks=[pytest.mark.service, pytest.mark.xdist_group("postgres")])
on_sqlite = pytest.param("sqlite", marks=[pytest.mark.service, pytest.mark.xdist_group("web")])
under_stress_on_postgres = pytest.param("postgres", marks=[*on_postgres.marks, pytest.mark.stress])
"""The gate kills a server over SQLite; PostgreSQL's own commits are held by tests/storage/test_reports.py."""

QUESTION = {"kind": "yes-no", "question": "?", "epsilon": "1", "forever": None, "results": "everyone", "password": ""}


@pytest.fixture(params=[on_sqlite, on_postgres])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/b.db" if request.param == "sqlite" else request.getfixturevalue("postgres").database()


class Load:
    """Threads that send reports, each on a connection of its own, and remember which were accepted."""

    def __init__(self, address: Any, identity: Any, threads: Any) -> None:
        self.address, self.identity = address, identity
        self.accepted, self.to_wire, self.running = set(), [], True  # type: ignore[var-annotated]
        self.threads = [threading.Thread(target=self._work) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def _work(self) -> None:
        with httpx.Client(base_url=self.address, timeout=30) as client:
            while self.running:
                body = {"token": secrets.token_hex(16), "round": 1, "report": secrets.randbelow(2)}
                self.to_wire.append(body)
                try:
                    answer = client.post(f"/api/polls/{self.identity}/reports", json=body)
                except httpx.HTTPError:
                    return
                if answer.status_code == 200:
                    self.accepted.add(body["token"])

    def stop(self) -> None:
        self.running = False
        for thread in self.threads:
            thread.join(60)


class LoadInGroups(Load):
    """Threads that send five hundred reports in each request."""

    def _work(self) -> None:
        with httpx.Client(base_url=self.address, timeout=60) as client:
            while self.running:
                lines = [{"token": secrets.token_hex(16), "round": 1, "report": at % 2} for at in range(500)]
                self.to_wire.extend(lines)
                try:
                    answer = client.post(f"/api/polls/{self.identity}/reports/many", json={"reports": lines})
                except httpx.HTTPError:
                    return
                if answer.status_code == 200:
                    self.accepted.update(line["token"] for line in lines)
                else:
                    time.sleep(0.2)


def load_and_kill(serve: Any, store: Any, *, threads: Any, reports: Any, kills: Any, load_kind: Any = Load) -> Any:
    site = serve(store)
    with site.steward() as client:
        identity = client.post("/api/polls", json=QUESTION).json()["id"]
    sent, accepted = [], set()  # type: ignore[var-annotated]
    for _ in range(kills):
        load = load_kind(site.address, identity, threads)
        while len(load.accepted) < reports:
            assert site.process.poll() is None
            time.sleep(0.01)
        site.kill()  # while many reports are on their way
        load.stop()
        sent, accepted = sent + load.to_wire, accepted | load.accepted
        site = serve(store)
    return site, identity, sent, accepted


def assert_nothing_lost(site: Any, store: Any, identity: Any, sent: Any, accepted: Any) -> None:
    kept = dict(ReportStore(store).reports(identity, 1))
    assert accepted <= set(kept), "an accepted report is missing"
    assert set(kept) <= {body["token"] for body in sent}, "a report that nobody sent"
    with site.client() as client:
        told = client.get(f"/api/polls/{identity}/results").json()
        assert told["answers"] == len(kept)
        ones = sum(value == "1" for value in kept.values())
        assert [row["count"] for row in told["raw"]] == [len(kept) - ones, ones]
        again = [body for body in sent if body["token"] in accepted][:100] + sent[-20:]
        for body in again:  # whoever was left without an answer sends the same token again
            assert client.post(f"/api/polls/{identity}/reports", json=body).status_code == 200
        whole = {body["token"] for body in again} | set(kept)
        assert client.get(f"/api/polls/{identity}/results").json()["answers"] == len(whole)


@pytest.mark.parametrize("store", [on_sqlite, under_stress_on_postgres], indirect=True)
def test_killed_under_load_nothing_is_lost_or_counted_twice(serve: Any, store: str) -> None:
    outcome = load_and_kill(serve, store, threads=6, reports=150, kills=1)
    assert_nothing_lost(outcome[0], store, *outcome[1:])


@pytest.mark.stress
def test_killed_ten_times_under_heavy_load(serve: Any, store: str) -> None:
    outcome = load_and_kill(serve, store, threads=32, reports=2000, kills=10)
    assert_nothing_lost(outcome[0], store, *outcome[1:])


@pytest.mark.stress
def test_a_million_reports_and_ten_kills(serve: Any, store: str) -> None:
    outcome = load_and_kill(serve, store, threads=8, reports=100_000, kills=10, load_kind=LoadInGroups)
    assert len(outcome[3]) >= 1_000_000
    assert_nothing_lost(outcome[0], store, *outcome[1:])


@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_a_database_that_goes_away_refuses_in_words_and_goes_on(serve: Any, postgres: Any) -> None:
    site = serve(postgres.database())
    body = {"token": "ab" * 16, "round": 1, "report": 1}
    with site.steward() as client:
        identity = client.post("/api/polls", json=QUESTION).json()["id"]
        assert client.get(f"/api/polls/{identity}").status_code == 200
        postgres.stop()
        try:
            refused = client.post(f"/api/polls/{identity}/reports", json=body)
        finally:
            postgres.start()
        assert refused.status_code == 503
        assert refused.json() == {"detail": "The database cannot be used just now; try again."}
        assert client.post(f"/api/polls/{identity}/reports", json=body).json()["counted"]
    said = site.stop()
    assert "ab" * 16 not in said
    assert "the database cannot be reached" in said
