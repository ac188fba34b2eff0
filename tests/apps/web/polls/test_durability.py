"""Killed and restarted under load: every accepted report is there, none is counted twice."""

import secrets
import threading
import time

import httpx
import pytest

from bruit.storage.reports import ReportStore

on_postgres = pytest.param("postgres", marks=[pytest.mark.service, pytest.mark.xdist_group("postgres")])
on_sqlite = pytest.param("sqlite", marks=[pytest.mark.service, pytest.mark.xdist_group("web")])
QUESTION = {"kind": "yes-no", "question": "?", "epsilon": "1", "forever": None, "results": "everyone", "password": ""}


@pytest.fixture(params=[on_sqlite, on_postgres])
def store(request, tmp_path):
    return f"sqlite:///{tmp_path}/b.db" if request.param == "sqlite" else request.getfixturevalue("postgres").database()


class Load:
    """Threads that send reports, each on a connection of its own, and remember which were accepted."""

    def __init__(self, address, identity, threads):
        self.address, self.identity = address, identity
        self.accepted, self.sent, self.running = set(), [], True
        self.threads = [threading.Thread(target=self._work) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def _work(self):
        with httpx.Client(base_url=self.address, timeout=30) as client:
            while self.running:
                body = {"token": secrets.token_hex(16), "round": 1, "report": secrets.randbelow(2)}
                self.sent.append(body)
                try:
                    answer = client.post(f"/api/polls/{self.identity}/reports", json=body)
                except httpx.HTTPError:
                    return
                if answer.status_code == 200:
                    self.accepted.add(body["token"])

    def stop(self):
        self.running = False
        for thread in self.threads:
            thread.join(60)


def load_and_kill(serve, store, *, threads, reports, kills):
    site = serve(store)
    with site.steward() as client:
        identity = client.post("/api/polls", json=QUESTION).json()["id"]
    sent, accepted = [], set()
    for _ in range(kills):
        load = Load(site.address, identity, threads)
        while len(load.accepted) < reports:
            assert site.process.poll() is None
            time.sleep(0.01)
        site.kill()  # while many reports are on their way
        load.stop()
        sent, accepted = sent + load.sent, accepted | load.accepted
        site = serve(store)
    return site, identity, sent, accepted


def assert_nothing_lost(site, store, identity, sent, accepted):
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


def test_killed_under_load_nothing_is_lost_or_counted_twice(serve, store):
    outcome = load_and_kill(serve, store, threads=6, reports=150, kills=1)
    assert_nothing_lost(outcome[0], store, *outcome[1:])


@pytest.mark.stress
def test_killed_ten_times_under_heavy_load(serve, store):
    outcome = load_and_kill(serve, store, threads=32, reports=2000, kills=10)
    assert_nothing_lost(outcome[0], store, *outcome[1:])


@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_a_database_that_goes_away_refuses_in_words_and_goes_on(serve, postgres):
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
    assert "ab" * 16 not in site.stop()
