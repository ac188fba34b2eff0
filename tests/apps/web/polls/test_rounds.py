"""A class answers an open question in rounds: common answers are found, and each device answers once."""

import asyncio
import contextlib
import io
import json
import re
import runpy
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

sys.path.insert(0, str(Path(__file__).parent))
from apps.web.polls.devices import publish  # type: ignore[import-not-found]

from bruit.apps.web import NotDelivered, PollClient, Wire
from bruit.apps.web.polls import publishing
from bruit.apps.web.polls.collector import Collector
from bruit.apps.web.polls.live_poll import LivePoll
from bruit.apps.web.polls.question import PollQuestion
from bruit.local import PrefixRounds

on_postgres = pytest.param("postgres", marks=[pytest.mark.service, pytest.mark.xdist_group("postgres")])
on_sqlite = pytest.param("sqlite", marks=[pytest.mark.service, pytest.mark.xdist_group("web")])
in_web = [pytest.mark.service, pytest.mark.xdist_group("web")]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SMALL: dict[str, Any] = {"kind": "open", "alphabet": "abcde", "length": 3, "rounds": 2, "epsilon": "4"}


def next_round(site: Any, identity: str, number: int = 0) -> Any:
    """Presses the button of a page that showed this round, by default the present one."""
    with site.steward() as steward:
        token = re.findall('name="csrf" value="([^"]+)"', steward.get("/polls/new").text)[0]
        ends = number or steward.get(f"/api/polls/{identity}").json()["round"]
        return steward.post(f"/polls/{identity}/next-round", headers={"x-csrf-token": token}, data={"round": ends})


def sent(site: Any, identity: str, words: Sequence[str], rng: np.random.Generator) -> Any:
    """Sends what one phone for each word sends in this round; the sealed reports."""
    poll = PollClient(f"{site.address}/p/{identity}")
    sealed = poll.seal(words, rng=rng)
    assert poll.send(sealed) == len(words)
    return sealed


@pytest.fixture(params=[on_sqlite, on_postgres])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/b.db" if request.param == "sqlite" else request.getfixturevalue("postgres").database()


def assert_a_thousand_phones_find(site: Any, folder: Path, *, after: Callable[[int], Any]) -> None:
    """A thousand phones answer in eight rounds; `after` each of them the site may be another."""
    rng, identity = (
        np.random.default_rng(1),
        publish(site, kind="open", alphabet=LETTERS, length=9, rounds=8, epsilon="4"),
    )
    words = np.array(["Pizza"] * 400 + ["ratatouille"] * 300 + ["sushi"] * 300)
    mine = PrefixRounds(LETTERS, 9, rounds=8, epsilon=4).drawn_rounds(1000, rng=rng)
    for number in range(1, 9):
        sent(site, identity, words[mine == number].tolist(), rng)
        before = results(site, identity)
        site = after(number)
        assert results(site, identity) == before
        assert next_round(site, identity).status_code == (303 if number < 8 else 409)
    told = results(site, identity)
    assert {row["label"] for row in told["estimate"]} == {"pizza", "ratatouil", "sushi"}
    assert [{row["label"] for row in found} for found in told["tree"][:2]] == [
        {"pi", "ra", "su"},
        {"piz", "rat", "sus"},
    ]
    assert told["beyond"] == []
    assert reproduced(site, identity, folder) == {row["label"]: row["value"] for row in told["estimate"]}


@pytest.mark.service
@pytest.mark.xdist_group("web")
def test_a_thousand_phones_find_the_common_answers_in_eight_rounds(site: Any, tmp_path: Path) -> None:
    assert_a_thousand_phones_find(site, tmp_path, after=lambda _: site)


@pytest.mark.stress
def test_a_server_killed_after_every_round_finds_the_same(
    serve: Callable[..., Any], store: str, tmp_path: Path
) -> None:
    sites = [serve(store)]

    def again(_: int) -> Any:
        sites[-1].kill()
        sites.append(serve(store))
        return sites[-1]

    assert_a_thousand_phones_find(sites[0], tmp_path, after=again)


def test_rounds_go_on_where_they_were_after_a_restart(store: str) -> None:
    question = PollQuestion(question="?", forever=None, results="everyone", **SMALL)
    rng, search = np.random.default_rng(1), PrefixRounds("abcde", 3, rounds=2, epsilon=4)

    def reports(poll: LivePoll, number: int) -> list[tuple[str, int, Any]]:
        protocol: Any = poll.wire.protocol
        made = protocol.randomise(search.prefixes(["abc", "de"] * 40, protocol, number), rng=rng)
        return [(f"{number:016x}{place:016x}", number, one) for place, one in enumerate(poll.wire.to_wire(made))]

    async def first() -> tuple[str, Any]:
        collector = Collector(store)
        await collector.start()
        identity, _ = await publishing.publish(collector, question, "")
        poll = await collector.poll(identity)
        assert all(await collector.submit(poll, reports(poll, 1)))
        await collector.next_round(poll, ends=1)
        assert sum(await collector.submit(poll, reports(poll, 2)[:10])) == 10
        told = await collector.results(poll)
        await collector.stop()
        return identity, told

    async def second(identity: str) -> tuple[Any, Any]:
        collector = Collector(store)
        await collector.start()
        poll = await collector.poll(identity)
        before = await collector.results(poll)
        assert sum(await collector.submit(poll, reports(poll, 2)[10:])) == 70
        told = await collector.results(poll)
        await collector.stop()
        return before, told

    with ThreadPoolExecutor(1) as thread:  # a browser of other tests has a loop of its own in this one
        identity, told = thread.submit(asyncio.run, first()).result()
        before, after = thread.submit(asyncio.run, second(identity)).result()
    assert before == told
    assert [row["label"] for row in after["tree"][0]] == ["ab", "de"]
    assert {row["label"] for row in after["estimate"]} == {"abc", "de"}


def results(site: Any, identity: str) -> Any:
    with site.client() as client:
        return client.get(f"/api/polls/{identity}/results").json()


def reproduced(site: Any, identity: str, folder: Path) -> dict[str, float]:
    """What the program of the poll makes of its reports."""
    with site.client() as client:
        for name in ("reports.csv", "reproduce.py"):
            (folder / name).write_text(client.get(f"/polls/{identity}/{name}").text)
    with pytest.MonkeyPatch.context() as patched, contextlib.redirect_stdout(io.StringIO()):
        patched.setattr(sys, "argv", ["reproduce.py", str(folder / "reports.csv")])
        release = runpy.run_path(str(folder / "reproduce.py"))["release"]
    return dict(zip(release.labels, release.value.tolist(), strict=True))


class TestOnOneServer:
    pytestmark = in_web

    def test_a_late_report_of_an_old_round_is_told_so_and_a_known_one_is_known(self, site: Any) -> None:
        identity, rng = publish(site, **SMALL), np.random.default_rng(1)
        late = PollClient(f"{site.address}/p/{identity}").seal(["ace"], rng=rng)
        counted = sent(site, identity, ["abc"] * 20, rng)
        assert next_round(site, identity).status_code == 303
        now = PollClient(f"{site.address}/p/{identity}")
        with pytest.raises(NotDelivered, match=r"the round of this report is over.*you are done"):
            now.send(late)
        assert now.send(counted) == 0
        with site.client() as client:
            body = {"token": "ab" * 16, "round": 3, "report": 0}
            refused = client.post(f"/api/polls/{identity}/reports", json=body)
            assert (refused.status_code, refused.json()["detail"]) == (423, "Not counted: that round has not begun.")
        assert results(site, identity)["answers"] == 0

    def test_the_next_round_waits_for_an_answer(self, site: Any) -> None:
        identity = publish(site, **SMALL)
        assert next_round(site, identity).status_code == 409
        with site.client() as client:
            assert client.get(f"/api/polls/{identity}").json()["round"] == 1

    @pytest.mark.parametrize("poll", [SMALL, {"kind": "yes-no", "forever": "4"}])
    def test_a_button_pressed_many_times_ends_one_round(self, site: Any, poll: dict[str, Any]) -> None:
        identity = publish(site, **poll)
        sent(site, identity, ["abc" if poll is SMALL else "yes"] * 20, np.random.default_rng(1))
        with ThreadPoolExecutor(6) as presses:
            pressed = [presses.submit(next_round, site, identity, 1) for _ in range(6)]
        assert [one.result().status_code for one in pressed] == [303] * 6
        with site.client() as client:
            assert client.get(f"/api/polls/{identity}").json()["round"] == 2

    def test_a_browser_that_answered_in_one_round_does_not_answer_in_another(self, site: Any) -> None:
        identity, rng = publish(site, **SMALL), np.random.default_rng(2)
        sent(site, identity, ["abc"] * 20, rng)
        with site.client(headers={"origin": site.address}) as browser:
            body = {"token": "ab" * 16, "round": 1, "report": one_report(site, identity)}
            assert browser.post(f"/api/polls/{identity}/reports", json=body).json()["counted"]
            next_round(site, identity)
            other = {"token": "cd" * 16, "round": 2, "report": one_report(site, identity)}
            assert browser.post(f"/api/polls/{identity}/reports", json=other).status_code == 409
            assert browser.post(f"/api/polls/{identity}/reports", json=body).json()["counted"] is False

    @pytest.mark.parametrize(
        "wrong", [{"forever": "5"}, {"admission": "cards"}, {"alphabet": "a"}, {"rounds": 9}, {"length": None}]
    )
    def test_what_no_search_follows_from_is_refused(self, site: Any, wrong: dict[str, Any]) -> None:
        body = {"question": "?", "forever": None, "results": "admin", "password": ""} | SMALL | wrong
        with site.steward() as steward:
            assert steward.post("/api/polls", json=body).status_code == 422


def one_report(site: Any, identity: str) -> Any:
    poll = PollClient(f"{site.address}/p/{identity}")
    return poll.seal(["abc"]).reports[0][1]


class TestInABrowser:
    pytestmark = in_web

    def test_a_class_is_asked_and_its_phones_wait_for_their_rounds(
        self,
        visit: Callable[..., Any],
        site: Any,
        assert_accessible: Callable[[Any], None],
        screenshot: Callable[[Any, str], None],
    ) -> None:
        teacher = visit("/polls/new", steward=True)
        teacher.get_by_label("The question").fill("What do you drink?")
        teacher.get_by_label("A word of their own").check()
        teacher.get_by_label("Letters that answers are read in").fill("abcdefghijklmnopqrstuvwxyz")
        teacher.get_by_label("Letters of the longest answer").fill("3")
        teacher.get_by_label("Rounds", exact=True).fill("2")
        teacher.get_by_label("Once", exact=True).check()
        teacher.get_by_label("ε of one report").fill("4")
        teacher.get_by_label("How many people will answer").fill("1000")
        teacher.get_by_label("Everyone").check()
        assert_accessible(teacher)
        teacher.get_by_role("button", name="See what it costs and tells").click()
        least = 100 * PrefixRounds("abcdefghijklmnopqrstuvwxyz", 3, rounds=2, epsilon=4).detection_limit(1000)
        expect(teacher.get_by_text(f"Texts that at least {least:.1f} % of them hold are found")).to_be_visible()
        expect(teacher.get_by_text("Each device answers in one of the 2 rounds")).to_have_count(1)
        assert_accessible(teacher)
        screenshot(teacher, "poll-rounds-preview")
        teacher.get_by_role("button", name="Publish").click()
        expect(teacher.locator("#round")).to_have_text(", round 1 of 2")
        identity = teacher.url.rpartition("/")[2]
        phone = visit(f"/p/{identity}", phone=True)
        phone.get_by_label("Your answer", exact=True).fill("123")
        phone.get_by_role("button", name="Add noise and send").click()
        expect(phone.locator("#wrong")).to_have_text("Write a word in the letters above.")
        phone.evaluate(
            "() => { window.real = crypto.getRandomValues; crypto.getRandomValues = words => words.fill(0); }"
        )
        phone.get_by_label("Your answer", exact=True).fill("Thé")
        phone.get_by_role("button", name="Add noise and send").click()
        expect(phone.locator("#turn")).to_have_text(re.compile("^Your device answers in round 2 of 2"))
        phone.evaluate("() => { crypto.getRandomValues = window.real; }")
        assert_accessible(phone)
        screenshot(phone, "poll-rounds-waiting")
        sent(site, identity, ["the"] * 60 + ["eau"] * 40, np.random.default_rng(1))
        expect(teacher.locator("#estimate-table tbody th")).to_have_text(["th…", "ea…"])
        teacher.get_by_role("button", name="Ask the next round").click()
        expect(teacher.locator("#round")).to_have_text(", round 2 of 2")
        expect(phone.locator("#state")).to_have_text(re.compile("^Thank you"), timeout=15_000)
        assert json.loads(phone.locator("#bytes").inner_text())["round"] == 2
        expect(phone.locator("#mine")).to_have_text("Thé")
        expect(teacher.locator("#answers")).to_have_text("1")
        sent(site, identity, ["the"] * 60 + ["eau"] * 40, np.random.default_rng(2))
        expect(teacher.locator("#estimate-table tbody th")).to_have_text(["the", "eau"])
        expect(teacher.locator("#tree-table tbody th")).to_have_text(["ea…", "th…"])
        expect(teacher.get_by_role("button", name="Ask the next round")).to_have_count(0)
        assert_accessible(teacher)
        screenshot(teacher, "poll-rounds-found")
        teacher.get_by_role("link", name="Present it").click()
        expect(teacher.locator("#tree-table tbody th")).to_have_text(["ea…", "th…"])
        phone.reload()
        expect(phone.locator("#state")).to_have_text("You have answered on this device.")

    def test_the_browser_spells_and_draws_as_python_does(self, visit: Callable[..., Any]) -> None:
        page = visit("/static/base/style.css")
        search = PrefixRounds("aceéht", 4, rounds=3, epsilon=4)
        protocol = search.protocol()
        told = {"alphabet": search.alphabet, "length": 4, "rounds": 3, "last": 0.3}
        words = ["Thé", "the\u0301", "THÈ", "c a-c h e t", "日", "", "t", "𝒯ache", "ÇA"]
        found = page.evaluate(
            """async ([search, protocol, words]) => {
              const { spell, prefix } = await import("/static/polls/rounds.js");
              return words.map(word => [spell(search, word), prefix(search, protocol, 1, word)]);
            }""",
            [told, protocol.to_json(), words],
        )
        expected = zip(map(search.spell, words), search.prefixes(words, protocol, 1), strict=True)
        assert found == [list(pair) for pair in expected]
        drawn = page.evaluate(
            """async search => {
              const { drawn } = await import("/static/polls/rounds.js");
              return [0, 0.29, 0.31, 0.64, 0.66, 0.99].map(u => drawn(search, 1, () => u * 2 ** 52));
            }""",
            told,
        )
        assert drawn == [3, 3, 1, 1, 2, 2]


def test_reports_of_a_round_are_of_its_own_format() -> None:
    search = PrefixRounds("abcde", 3, rounds=2, epsilon=4)
    first = search.protocol()
    tally = first.tally(search.randomise(["abc"] * 50, rng=np.random.default_rng(1)))
    assert Wire(first).size > Wire(search.protocol([tally])).size
