"""The collector for programs: what its description promises, what it refuses, and that it never breaks."""

import csv
import json
import time
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bruit.apps.steward.csv_safety import unguard_cell
from bruit.apps.web.polls.store import ReportStore

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]

QUESTION = {"kind": "yes-no", "question": "?", "epsilon": "1", "forever": None, "results": "everyone", "password": ""}
KINDS: dict[str, Any] = {
    "yes-no": {},
    "choices": {"choices": [f"choice {number}" for number in range(20)]},
    "number": {"low": "0", "high": "10", "grid": "1"},
    "text": {"choices": ["a.example", "b.example"]},
}


def published(site: Any, **question: Any) -> Any:
    with site.steward() as client:
        made = client.post("/api/polls", json=QUESTION | question)
    assert made.status_code == 201, made.text
    return made.json()


def fuzz(site: Any, examples: Any) -> Any:
    """Sends what the description allows, and what it does not, to every operation; how many requests that were."""
    schema = schemathesis.openapi.from_url(f"{site.address}/openapi.json")
    identities = [published(site, kind=kind, **more)["id"] for kind, more in KINDS.items()]
    return sum(fuzz_one(site, found.ok(), identities, examples) for found in schema.get_all_operations())


def fuzz_one(site: Any, operation: Any, identities: Any, examples: Any) -> Any:
    """No answer is a 5xx, and every status is one that the description names."""
    declared, statuses = set(operation.definition.raw["responses"]), []

    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=cases(operation), identity=st.sampled_from([None, *identities]), steward=st.booleans())
    def send(case: Any, identity: Any, steward: bool) -> None:
        if identity and "identity" in (case.path_parameters or {}):
            case.path_parameters["identity"] = identity
        headers = {"authorization": f"Bearer {site.key}"} if steward else {}
        answer = case.call(headers=headers)
        while answer.status_code == 429:  # else most of many requests would be told to wait, and nothing more
            time.sleep(int(answer.headers["retry-after"][0]))
            answer = case.call(headers=headers)
        statuses.append(answer.status_code)
        assert statuses[-1] < 500
        assert str(statuses[-1]) in declared

    send()
    return len(statuses)


def cases(operation: Any) -> Any:
    """Requests that fit the description, and where there is something to break, requests that do not."""
    return st.one_of(operation.as_strategy(mode) for mode in schemathesis.GenerationMode)


def test_fuzzing_from_the_description_finds_no_5xx(site: Any) -> None:
    assert fuzz(site, 12) > 40


@pytest.mark.stress
def test_long_fuzzing_from_the_description_finds_no_5xx(site: Any) -> None:
    assert fuzz(site, 1000) > 4000


WRONG = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'{"token": "x", "round": 1, "report": 1}',
    b'{"token": "%s", "round": 1}' % (b"ab" * 16),
    b'{"token": "%s", "round": true, "report": 1}' % (b"ab" * 16),
    b'{"token": "%s", "round": 1, "report": 2}' % (b"ab" * 16),
    b'{"token": "%s", "round": 1, "report": -1}' % (b"ab" * 16),
    b'{"token": "%s", "round": 1, "report": 1.0}' % (b"ab" * 16),
    b'{"token": "%s", "round": 1, "report": true}' % (b"ab" * 16),
    b'{"token": "%s", "round": 1, "report": "01"}' % (b"ab" * 16),
    b'{"token": "%s", "round": 1, "report": [0, "01"]}' % (b"ab" * 16),
    b'{"token": "%s", "round": 1, "report": 1, "answer": "yes"}' % (b"ab" * 16),
    b'{"token": "%s", "round": 99999999999999999999, "report": 1}' % (b"ab" * 16),
    b"\xff\xfe",
]


@pytest.mark.parametrize("body", WRONG)
def test_what_no_device_sends_is_refused_and_not_repeated(site: Any, body: bytes) -> None:
    identity = published(site)["id"]
    with site.client() as client:
        refused = client.post(f"/api/polls/{identity}/reports", content=body)
        assert refused.status_code in (400, 422)
        assert list(refused.json()) == ["detail"]
        assert "abab" not in refused.text
        assert client.get(f"/api/polls/{identity}/results").json()["answers"] == 0


@pytest.mark.parametrize("value", ['"\xb2"', "9" * 5000, "-1", '"', ""])
def test_a_cookie_that_no_server_set_says_nothing(site: Any, value: str) -> None:
    identity = published(site)["id"]
    body = {"token": "ab" * 16, "round": 1, "report": 1}
    with site.client(headers={"cookie": f"bruit_sent_{identity}={value}".encode("latin-1")}) as client:
        assert client.post(f"/api/polls/{identity}/reports", json=body).json() == {"accepted": True, "counted": True}


def test_rule_1_nothing_about_privacy_has_a_default(site: Any) -> None:
    with site.steward() as client:
        for name in ("epsilon", "forever", "results"):
            left_out = {key: value for key, value in QUESTION.items() if key != name}
            assert client.post("/api/polls", json=left_out).status_code == 422
        for wrong in ("0", "-1", "11", "1e9", "nan", "one"):
            assert client.post("/api/polls", json=QUESTION | {"epsilon": wrong}).status_code == 422


def test_only_the_steward_makes_polls_and_only_the_admin_sees_results(site: Any) -> None:
    made = published(site, results="admin")
    with site.client() as client:
        assert client.post("/api/polls", json=QUESTION).status_code == 401
        results = f"/api/polls/{made['id']}/results"
        assert client.get(results).status_code == 401
        assert client.get(results, headers={"authorization": f"Bearer {made['secret']}"}).status_code == 200
        assert client.get(f"/api/polls/{made['id']}/events").status_code == 401
        for name in ("reports.csv", "estimates.csv", "reproduce.py"):
            assert client.get(f"/polls/{made['id']}/{name}").status_code == 401


def test_neither_a_secret_link_nor_a_password_is_kept(site: Any) -> None:
    made = published(site, password="a password that is kept nowhere")
    kept = ReportStore(site.database).poll(made["id"])
    assert kept.password_salt
    for file in filter(Path.is_file, Path(site.database.removeprefix("sqlite:///")).parent.rglob("*")):
        content = file.read_bytes()
        assert made["secret"].encode() not in content
        assert b"a password that" not in content
        assert site.key.encode() not in content


def test_one_wrong_report_of_many_refuses_all(site: Any) -> None:
    identity = published(site)["id"]
    good = {"token": "cd" * 16, "round": 1, "report": 1}
    with site.client() as client:
        many = f"/api/polls/{identity}/reports/many"
        assert client.post(many, json={"reports": [good, good | {"report": 7}]}).status_code == 400
        assert client.get(f"/api/polls/{identity}/results").json()["answers"] == 0
        assert client.post(many, json={"reports": [good, good]}).json() == {"accepted": 2, "counted": 1}


def test_events_tell_the_counters_as_they_change(site: Any) -> None:
    identity = published(site)["id"]
    seen = []
    with site.client() as client, client.stream("GET", f"/api/polls/{identity}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if not line.startswith("data: "):
                continue
            seen.append(json.loads(line.removeprefix("data: "))["answers"])
            if len(seen) == 3:
                break
            body = {"token": f"{len(seen):032x}", "round": 1, "report": 0}
            with site.client() as other:
                assert other.post(f"/api/polls/{identity}/reports", json=body).status_code == 200
    assert seen == [0, 1, 2]


def test_no_answer_is_a_formula_of_a_spreadsheet(site: Any) -> None:
    answers = ["=1+1", "@a", "'quoted", "-1", "plain"]
    identity = published(site, kind="choices", choices=answers)["id"]
    with site.client() as client:
        body = {"token": "ef" * 16, "round": 1, "report": 0}
        assert client.post(f"/api/polls/{identity}/reports", json=body).status_code == 200
        lines = client.get(f"/polls/{identity}/estimates.csv").text.splitlines()
    rows = list(csv.DictReader(lines, quoting=csv.QUOTE_NONNUMERIC))
    assert [row["answer"] for row in rows] == ["'=1+1", "'@a", "''quoted", "-1", "plain"]
    assert [unguard_cell(row["answer"]) for row in rows] == answers
    assert all(isinstance(row["estimate"], float) for row in rows)
