"""Several rounds of the same respondents: a tally knows them, and its interval covers as one round's does."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit.errors import InvalidArgument
from bruit.local import KRR, LOLOHA, Client, LongitudinalKRR, Rappor, RapporClient, tally_from_json

ASKED = LongitudinalKRR(["a", "b", "c"], epsilon=1, forever=3)
SHARES = np.array([0.5, 0.3, 0.2])


def ten_rounds(rng: np.random.Generator, people: int) -> tuple[object, np.ndarray]:
    """The tally of ten rounds of the same respondents, drawn as their devices draw it."""
    places = rng.choice(3, people, p=SHARES).astype(np.int32)
    memoised = ASKED.memoise(places, rng=rng)
    tally = ASKED.empty()
    for number in range(1, 11):
        tally = tally + ASKED.tally(ASKED.respond(memoised, rng=rng), round=number)
    return tally, np.bincount(places, minlength=3) / people


def test_ten_rounds_of_the_same_respondents_cover_as_often_as_they_say() -> None:
    rng, covered, naive = np.random.default_rng(5), 0, 0
    for _ in range(200):
        tally, _ = ten_rounds(rng, 400)
        assert (tally.people, tally.respondents) == (4000, 400)  # type: ignore[attr-defined]
        low, high = (getattr(ASKED.estimate(tally).interval, end) for end in ("low", "high"))
        covered += int(((low <= SHARES) & (high >= SHARES)).sum())
        forgotten = ASKED.tally_of(tally.counts, tally.people)  # type: ignore[attr-defined]
        low, high = (getattr(ASKED.estimate(forgotten).interval, end) for end in ("low", "high"))
        naive += int(((low <= SHARES) & (high >= SHARES)).sum())
    assert covered >= 0.93 * 600
    assert naive < 0.85 * 600, "the planted fault: rounds that are taken for new respondents"


def test_rounds_add_up_and_survive_json() -> None:
    first, second = (ASKED.tally(np.zeros(5, np.int32), round=number) for number in (1, 2))
    both = first + second + ASKED.tally(np.ones(3, np.int32))
    assert both.rounds == (8, 5)
    assert both.respondents == 8
    assert tally_from_json(both.to_json()) == both
    assert "rounds" not in first.to_json()
    with pytest.raises(InvalidArgument, match="first reports"):
        ASKED.tally_of([1, 1, 1], 3, rounds=(1, 1))


@pytest.mark.parametrize("protocol", [ASKED, LOLOHA(["a", "b"], epsilon=1, forever=2)])
def test_a_device_says_which_report_it_sends_even_after_a_crash(protocol: LongitudinalKRR, tmp_path: Path) -> None:
    client = Client(protocol, path=tmp_path / "state")
    assert [client.report("a").round for _ in range(2)] == [1, 2]
    again = Client.load(tmp_path / "state")
    report = again.report("b")
    assert report.round == 3
    assert protocol.tally(report).rounds == (0, 0, 1)
    assert again.reports == 3


def test_a_rappor_device_saves_before_it_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted crash: the process dies after the report was drawn; what it cost stands on the disk."""
    protocol = Rappor(bits=16, hashes=2, cohorts=2, f="0.5", p="0.5", q="0.75")
    client = RapporClient(protocol, path=tmp_path / "state")
    monkeypatch.setattr(Rappor, "respond", _die)
    with pytest.raises(KeyboardInterrupt):
        client.report("a text")
    monkeypatch.undo()
    again = RapporClient.load(tmp_path / "state")
    assert again.distinct == 1
    assert again.spent == protocol.law.forever
    assert again.report("a text").round == 2


def _die(*_: object, **__: Any) -> None:
    raise KeyboardInterrupt


def test_rounds_of_rappor_are_respondents_of_each_cohort() -> None:
    protocol = Rappor(bits=16, hashes=2, cohorts=2, f="0.5", p="0.5", q="0.75")
    clients = [RapporClient(protocol, cohort=number % 2) for number in range(6)]
    tallies = [protocol.tally(client.report("a")) for _ in range(3) for client in clients]
    tally = tallies[0]
    for other in tallies[1:]:
        tally = tally + other
    assert tally.rounds == ((3, 3),) * 3
    assert tally.respondents.tolist() == [3, 3]
    assert tally.people.tolist() == [9, 9]
    assert tally_from_json(tally.to_json()) == tally


def test_other_protocols_have_one_round() -> None:
    krr = KRR(["a", "b"], epsilon=1)
    assert krr.tally(krr.randomise(["a"] * 4)).rounds == (4,)
