"""A shuffler before a collector: no sender, order or token gets through, and each report counts once."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bruit.apps.web.application import application
from bruit.apps.web.polls.store import ReportStore
from bruit.apps.web.settings import Settings, hash_secret, rates_for
from bruit.apps.web.shuffler import Shuffler
from bruit.apps.web.shuffler import application as shuffling
from bruit.errors import InvalidArgument, ProtocolError
from bruit.local import shuffled

QUESTION = {"kind": "yes-no", "question": "?", "epsilon": "1", "forever": None, "results": "everyone", "password": ""}


class Behind(Shuffler):
    """A shuffler whose collector runs in this process; `cut` loses the answer of a batch."""

    collector_client: TestClient
    cut = False

    def fetch(self, path: Any, body: Any = None, *, language: Any = "en") -> Any:
        if body is None:
            return self.collector_client.get(path, headers={"accept-language": language}).content
        answer = self.collector_client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 200, answer.text
        if self.cut:
            raise OSError
        return answer.content


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Any]:
    settings = Settings(database=f"sqlite:///{tmp_path}/c.db", key_hash=hash_secret("key"), rates=rates_for(20_000))
    with TestClient(application(settings)) as client:
        yield client


@pytest.fixture
def made(collector: Any, tmp_path: Path) -> Any:
    identity = collector.post("/api/polls", json=QUESTION, headers={"authorization": "Bearer key"}).json()["id"]
    Behind.collector_client = collector
    return Behind(f"http://collector/p/{identity}", f"sqlite:///{tmp_path}/s.db", least=20, delta="1e-6")


def test_reports_go_on_by_the_batch_under_other_tokens_and_count_once(
    made: Any, collector: Any, tmp_path: Path
) -> None:
    sent = [(secrets.token_hex(16), at % 3 % 2) for at in range(40)]
    with TestClient(shuffling(made)) as phone:
        assert phone.get(f"/p/{made.identity}").status_code == 200
        assert phone.get("/static/polls/client.js").status_code == 200
        assert phone.get("/static/base/../../settings.py").status_code == 404
        for at, (token, report) in enumerate(sent):
            body = {"token": token, "round": 1, "report": report}
            for counted in (True, False):  # sent again, it is known
                answer = phone.post(f"/api/polls/{made.identity}/reports", json=body)
                assert answer.json() == {"accepted": True, "counted": counted}
            if at == 10:
                assert made.hand_on() == 0  # too few to hide among
        assert phone.post(f"/api/polls/{made.identity}/reports", json=body | {"report": 7}).status_code == 422
    made.cut = True
    with pytest.raises((OSError, ProtocolError)):
        made.hand_on()  # the collector has it, the shuffler does not know
    made.cut = False
    assert made.hand_on() == 0  # the same batch: counted once
    kept = list(ReportStore(f"sqlite:///{tmp_path}/c.db").reports(made.identity, 1))
    assert sorted(int(report) for _, report in kept) == sorted(report for _, report in sent)
    assert not {token for token, _ in kept} & {token for token, _ in sent}
    assert made.hand_on() == made.store.count() == 0
    assert not made.take(1, sent[0][0], 1)  # a token that was handed on does not come again


def test_a_page_speaks_the_language_of_the_phone(made: Any) -> None:
    with TestClient(shuffling(made)) as phone:
        for asked, spoken in (("fr-CH,fr;q=0.9", "fr"), ("en", "en"), ("xx-secret", "en")):
            page = phone.get(f"/p/{made.identity}", headers={"accept-language": asked})
            assert f'<html lang="{spoken}"' in page.text
            assert page.headers["vary"] == "accept-language"


def test_the_order_is_that_of_fresh_random_tokens(made: Any) -> None:
    for at in range(60):
        made.take(1, f"{at:032x}", at % 2)
    mixed = made.store.mix(20)
    assert [one.sent_as for one in mixed] == sorted(one.sent_as for one in mixed)
    assert [json.loads(one.report) for one in mixed] != [at % 2 for at in range(60)]
    assert made.store.mix(20) == mixed  # until it was handed on, the batch is the same


def test_reports_of_another_round_are_no_crowd(made: Any) -> None:
    """The collector sees the round of each report: one that it had given a number of its own would stand alone."""
    for at in range(19):
        made.take(1, f"{at:032x}", 0)
    made.take(2, f"{19:032x}", 1)
    assert made.store.mix(20) == []
    for at in range(20, 45):
        made.take(2, f"{at:032x}", 1)
    assert {one.round for one in made.store.mix(20)} == {2}
    made.store.forget()
    assert made.store.mix(20) == []
    made.take(1, f"{45:032x}", 0)
    assert [one.round for one in made.store.mix(20)] == [1] * 20


def test_the_bound_is_that_of_the_shuffled_model(made: Any) -> None:
    found = made.guarantee(1000)
    assert found == shuffled(1, 1000, delta="1e-6")
    assert 0 < found.epsilon < 1
    assert "trusted shuffler, public size, others follow the noise" in str(found)


def test_what_cannot_be_shuffled_is_refused(collector: Any, tmp_path: Path) -> None:
    Behind.collector_client = collector
    steward = {"authorization": "Bearer key"}
    cards = collector.post("/api/polls", json=QUESTION | {"admission": "cards"}, headers=steward).json()["id"]
    for link, least, said in (
        ("ftp://x", 20, "looks like"),
        (f"http://c/p/{cards}", 20, "cards"),
        ("http://c/p/a", 9, "at least 10"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            Behind(link, f"sqlite:///{tmp_path}/s.db", least=least, delta="1e-6")
