"""The browser's law is Python's: the same integers on shared vectors, and counts inside the exact window."""

import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from laws import assert_law

from bruit import local
from bruit.apps.web import NotDelivered, PollClient, Wire
from bruit.errors import InvalidArgument
from bruit.local import FrequencyProtocol, LocalProtocol
from bruit.local.frequencies import bits
from bruit.local.rappor import optimal_f

sys.path.insert(0, str(Path(__file__).parent))
import vectors  # type: ignore[import-not-found]

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]

REPLAY = """async ({protocol, answer, words}) => {
  const {randomise} = await import("/static/polls/client.js");
  let at = 0;
  const next = () => { const [low, high] = words[at++]; return high * 2 ** 20 + (low >>> 12); };
  const memory = {};
  return {report: randomise(protocol, answer, memory, next), memory};
}"""

DRAW = """async ({protocol, answer, times}) => {
  const {randomise} = await import("/static/polls/client.js");
  const counts = {};
  for (let i = 0; i < times; i++) {
    const report = randomise(protocol, answer, {});
    counts[report] = (counts[report] || 0) + 1;
  }
  return counts;
}"""

DRAWS = 262_144
"""As many as `draws_to_detect` asks for to tell ε = 1.05 from 1, and no fewer than 200 000."""


@pytest.fixture
def browser_page(visit: Callable[..., Any]) -> Any:
    return visit("/static/base/style.css")


def test_the_stored_vectors_are_what_python_computes() -> None:
    stored = json.loads(vectors.FILE.read_text())
    assert stored == json.loads(json.dumps(vectors.made()))
    for line in stored:
        vectors.check_known(line)


def test_the_browser_computes_the_shared_vectors(browser_page: Any) -> None:
    for line in json.loads(vectors.FILE.read_text()):
        found = browser_page.evaluate(REPLAY, {name: line[name] for name in ("protocol", "answer", "words")})
        assert found == {"report": line["report"], "memory": line["memory"]}, line["protocol"]["protocol"]


WEIGHTS = """async protocols => {
  const {weight} = await import("/static/polls/client.js");
  return protocols.map(([protocol, steps]) => Array.from({length: steps + 1}, (_, step) => weight(protocol, step)));
}"""

PROMISES = """async cases => {
  const {keepsPromise} = await import("/static/polls/law.js");
  return cases.map(one => keepsPromise(...one));
}"""


def test_the_browser_weighs_numbers_as_python_does(browser_page: Any) -> None:
    """Products above 2^53 came out one part in 2^52 wrong where they were not computed in whole numbers."""
    epsilons = [Fraction(number, 10) for number in range(1, 100, 2)]
    protocols = [local.OneBitMean(0, steps, grid=1, epsilon=each) for each in epsilons for steps in (120, 1000)]
    found = browser_page.evaluate(WEIGHTS, [[one.to_json(), one.steps] for one in protocols])
    expected = [one.weights(np.arange(one.steps + 1)).tolist() for one in protocols]
    assert sum(map(len, expected)) == 56_100
    assert found == expected


def test_the_browser_proves_every_law_and_refuses_one_part_in_2_52_more(browser_page: Any) -> None:
    cases = list(promises())
    assert browser_page.evaluate(PROMISES, [[one.to_json(), *shown] for one, shown in cases]) == [True] * len(cases)
    forged = [[block, *shown] for one, shown in cases for block in forgeries(one.to_json())]
    assert len(forged) > 30
    assert browser_page.evaluate(PROMISES, forged) == [False] * len(forged)


def promises() -> Iterator[Any]:
    """Protocols with the ε of one report and of all that a page shows beside them."""
    many = [f"choice {number}" for number in range(30)]
    for epsilon in ("0.1", "0.5", "1", "2.302585", "5", "9.9"):
        once, always = epsilon, "10"
        yield local.Warner(epsilon=once), (once, None)
        yield local.KRR(many, epsilon=once), (once, None)
        yield local.OUE(many, epsilon=once), (once, None)
        yield local.OneBitMean(0, 10, grid=1, epsilon=once), (once, None)
        yield local.LongitudinalKRR(many, epsilon=once, forever=always), (once, always)
        yield local.LongitudinalOUE(many, epsilon=once, forever=always), (once, always)
        yield local.Rappor(bits=128, hashes=1, cohorts=8, f=optimal_f(Fraction(once), 1)), (once, None)


def forgeries(block: Any) -> Iterator[Any]:
    """The same law with one part in 2^52 moved towards the truth, in the stage that is rounded to the last part."""
    law, kind = json.loads(json.dumps(block["law"])), block["protocol"]
    if kind in ("Warner", "KRR", "OneBitMean"):
        law["other"], law["keep"] = law["other"] - 1, law["keep"] + law["size"] - 1
    elif kind == "OUE":
        law["false"] -= 1
    elif kind == "Rappor":
        law["ones"]["permanent"] = [law["ones"]["permanent"][0] - 1, law["ones"]["permanent"][1] + 1]
    elif kind == "LongitudinalKRR":
        law["permanent"]["other"] -= 1
        law["permanent"]["keep"] += law["permanent"]["size"] - 1
    else:
        law["permanent"][1] -= 1
    yield block | {"law": law}


@pytest.mark.parametrize(
    ("protocol", "answer", "law"),
    [
        (local.Warner(epsilon=1), "yes", lambda one: one.channel.probabilities()[1]),
        (local.KRR(["a", "b", "c"], epsilon=1), "b", lambda one: one.channel.probabilities()[1]),
        (local.OneBitMean(0, 10, grid=1, epsilon=1), 3, lambda one: one_bit(one, 3)),
        (
            local.LongitudinalKRR(["a", "b", "c"], epsilon=1, forever=2),
            "a",
            lambda one: [one.support.true, one.support.false, one.support.false],
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, local.LocalProtocol) else None,
)
def test_more_than_200_000_browser_draws_follow_the_law(
    browser_page: Any, protocol: LocalProtocol, answer: Any, law: Callable[..., Any]
) -> None:
    drawn = browser_page.evaluate(DRAW, {"protocol": protocol.to_json(), "answer": answer, "times": DRAWS})
    expected = np.asarray(law(protocol))
    assert_law([drawn.get(str(place), 0) for place in range(len(expected))], expected)


def one_bit(protocol: Any, value: Any) -> Any:
    one = int(protocol.weights(np.array([value]))[0]) / 2**52
    return [1 - one, one]


@pytest.mark.parametrize(
    "protocol",
    [local.OUE(list("abcdefgh"), epsilon=1), local.LongitudinalOUE(list("abcdefgh"), epsilon=1, forever=3)],
    ids=lambda value: type(value).__name__,
)
def test_browser_bits_follow_the_law(browser_page: Any, protocol: FrequencyProtocol) -> None:
    times = 12_000
    drawn = browser_page.evaluate(DRAW, {"protocol": protocol.to_json(), "answer": "c", "times": times})
    wire = Wire(protocol)
    tally = sum((wire.tally(count, wire.count(b"", [kept] * count)) for kept, count in drawn.items()), protocol.empty())
    for place, ones in enumerate(tally.counts):
        chance = protocol.support.true if place == 2 else protocol.support.false
        assert_law([times - ones, ones], [1 - chance, chance], alarm=1e-9 / 8)


def test_browser_texts_follow_the_law(browser_page: Any) -> None:
    protocol = local.Rappor(bits=32, hashes=2, cohorts=4, f="0.5", p="0.25", q="0.75")
    drawn = browser_page.evaluate(DRAW, {"protocol": protocol.to_json(), "answer": "café", "times": 4_000})
    cohorts, ones = np.zeros(4, int), np.zeros((2, 2), int)
    for report, count in drawn.items():
        cohort, row = report.split(",")
        cohorts[int(cohort)] += count
        true = bits.unpacked(protocol.filters(["café"], np.array([int(cohort)], np.int32)), 32)[0]
        sent = np.unpackbits(np.frombuffer(bytes.fromhex(row), np.uint8), bitorder="little")
        np.add.at(ones, (true, sent), count)
    assert_law(cohorts, [0.25] * 4)
    for bit in (0, 1):
        assert_law(ones[bit], protocol.law.report.probabilities()[bit])


# ------------------------------------------------------------ the client in Python
def published(site: Any, **question: Any) -> str:
    body = {"kind": "yes-no", "question": "?", "epsilon": "1", "forever": None, "results": "everyone", "password": ""}
    with site.steward() as client:
        return f"{site.address}/p/{client.post('/api/polls', json=body | question).json()['id']}"


def test_pages_of_results_state_the_number_of_reports_before_their_scripts_run(site: Any) -> None:
    """An estimate may come late; nobody should read 0 meanwhile."""
    poll = PollClient(address := published(site))
    poll.send(poll.seal(["yes"] * 30))
    for page in ("", "/present"):
        told = httpx.get(address.replace("/p/", "/polls/") + page, timeout=60)
        assert '<span class="big" id="answers">30</span>' in told.text


def test_python_answers_a_poll_and_sends_again_without_counting_twice(site: Any) -> None:
    poll = PollClient(published(site))
    assert poll.answer("yes")
    sealed = poll.seal(["no"] * 700)
    assert poll.send(sealed) == 700
    assert poll.send(sealed) == 0


def test_python_says_when_a_poll_is_not_there(site: Any) -> None:
    with pytest.raises(NotDelivered, match="no such poll"):
        PollClient(f"{site.address}/p/zzzzzzzzzz")
    with pytest.raises(NotDelivered, match="did not answer"):
        PollClient("http://127.0.0.1:9/p/zzzzzzzzzz")
    with pytest.raises(InvalidArgument):
        PollClient("ftp://somewhere/else")
