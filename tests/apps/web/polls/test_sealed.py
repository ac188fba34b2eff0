"""Sealed once: two tabs, no storage, a round that ended, the Back button, a law that is not the one shown."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

sys.path.insert(0, str(Path(__file__).parent))
from apps.web.polls.devices import KEPT, answers, publish  # type: ignore[import-not-found]

VECTORS = Path(__file__).parents[1] / "admission" / "rfc9474.json"
pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]

NO_STORAGE = "Object.defineProperty(self, 'indexedDB', { get() { throw new DOMException('no', 'SecurityError'); } })"


def change(site: Any, identity: Any, action: Any) -> None:
    """Opens or closes a poll, as its admin does."""
    with site.client(headers={"authorization": f"Bearer {site.key}"}) as client:
        token = re.search(r'name="csrf" content="(\w+)"', client.get("/polls").text)[1]
        assert client.post(f"/polls/{identity}/{action}", headers={"x-csrf-token": token}).status_code == 303


def test_two_tabs_draw_once_and_send_one_report(visit: Callable[..., Any], site: Any) -> None:
    """Each tab is told to send before either has drawn; the permanent noise of a repeated poll is one, too."""
    identity = publish(site, kind="yes-no", forever="2")
    tabs = [visit(f"/p/{identity}")]
    tabs.append(tabs[0].context.new_page())
    tabs[1].goto(tabs[0].url)
    for tab, label in zip(tabs, ("yes", "no"), strict=True):
        tab.get_by_label(label, exact=True).check()
    for tab in tabs:
        tab.evaluate("setTimeout(() => document.getElementById('send').click())")
    for tab in tabs:
        expect(tab.locator("#state")).to_have_text(re.compile("^Thank you"))
    assert len({tab.locator("#bytes").inner_text() for tab in tabs}) == 1
    kept = tabs[0].evaluate(KEPT)
    assert (len(kept["sealed"]), [len(noise) for noise in kept["noise"]]) == (1, [1])
    assert answers(site, identity) == 1


@pytest.mark.parametrize("forever", [None, "2"])
def test_a_device_that_keeps_nothing_is_told_before_anything_is_drawn(
    visit: Callable[..., Any], site: Any, forever: Any
) -> None:
    identity = publish(site, kind="yes-no", forever=forever)
    phone = visit("/static/base/style.css", phone=True)
    phone.add_init_script(NO_STORAGE)
    phone.goto(f"{site.address}/p/{identity}")
    if forever:
        expect(phone.locator("#wrong")).to_contain_text("Allow storage for this page to answer")
        expect(phone.locator("#send")).to_be_disabled()
        return
    expect(phone.locator("#wrong")).to_contain_text("This browser keeps nothing")
    phone.get_by_label("yes", exact=True).check()
    phone.get_by_role("button", name="Add noise and send").click()
    expect(phone.locator("#state")).to_have_text(re.compile("^Thank you"))
    assert answers(site, identity) == 1


def test_a_vote_refused_because_the_round_is_over_is_not_shown_as_given(visit: Callable[..., Any], site: Any) -> None:
    identity = publish(site, kind="yes-no")
    phone = visit(f"/p/{identity}", phone=True)
    phone.get_by_label("yes", exact=True).check()
    change(site, identity, "close")
    phone.get_by_role("button", name="Add noise and send").click()
    expect(phone.locator("#state")).to_have_text(re.compile("^Not counted"))
    sealed = phone.locator("#bytes").inner_text()
    phone.reload()
    expect(phone.locator("#state")).to_have_text(re.compile("^Not counted yet"))
    assert answers(site, identity) == 0
    change(site, identity, "open")
    phone.get_by_role("button", name="Send the same bytes again").click()
    expect(phone.locator("#state")).to_have_text(re.compile("^Thank you"))
    assert phone.locator("#bytes").inner_text() == sealed
    assert answers(site, identity) == 1


BLIND = """async vectors => {
  const { blind, finalise } = await import("/static/polls/admission.js");
  const bytes = text => Uint8Array.from(text.match(/../g) ?? [], byte => parseInt(byte, 16)), found = [];
  for (const one of vectors) {
    const key = { n: one.n, e: "65537" };
    const waiting = await blind(key, bytes(one.prepared_msg), bytes(one.salt), BigInt(one.r));
    found.push([waiting.encoded, waiting.blinded, waiting.inverse, finalise(key, waiting, one.blind_sig)]);
  }
  return found;
}"""


def test_a_card_lets_one_device_answer_once_and_its_signature_is_blind(visit: Callable[..., Any], site: Any) -> None:
    """The script agrees with RFC 9474; what is signed is not what is sent; the card is used up."""
    identity = publish(site, kind="yes-no", admission="cards")
    with site.steward() as client:
        token = re.search(r'name="csrf" content="(\w+)"', client.get("/polls").text)[1]
        cards = client.post(f"/polls/{identity}/cards", data={"csrf": token, "count": "1"}).text
    (code,) = re.findall(rf"/p/{identity}#(\w+)", cards)
    stranger = visit(f"/p/{identity}")
    expect(stranger.locator("#wrong")).to_contain_text("holders of a card")
    vectors = json.loads(VECTORS.read_text())
    given = [one | {"r": str(pow(int(one["inv"], 16), -1, int(one["n"], 16)))} for one in vectors]
    known = [[one[name] for name in ("encoded_msg", "blinded_msg", "inv", "sig")] for one in vectors]
    assert stranger.evaluate(BLIND, given) == known
    phone, sent = visit("/static/base/style.css", phone=True), []
    phone.on("request", lambda asked: sent.append(asked.post_data or ""))
    phone.goto(f"{site.address}/p/{identity}#{code}")
    phone.get_by_label("yes", exact=True).check()
    phone.get_by_role("button", name="Add noise and send").click()
    expect(phone.locator("#state")).to_have_text(re.compile("^Thank you"))
    asked, report = (json.loads(body) for body in sent if body)
    assert report["admission"]["message"] not in asked["blinded"]
    assert code not in json.dumps(report)
    thief = visit(f"/p/{identity}#{code}", phone=True)
    expect(thief.locator("#wrong")).to_contain_text("used on another device")
    assert answers(site, identity) == 1


def test_the_back_button_brings_no_answer_back(visit: Callable[..., Any], site: Any) -> None:
    identity = publish(site, kind="choices", choices=["red", "green"])
    phone = visit(f"/p/{identity}", phone=True)
    phone.get_by_label("green").check()
    phone.get_by_role("button", name="Add noise and send").click()
    expect(phone.locator("#state")).to_have_text(re.compile("^Thank you"))
    expect(phone.locator("input:checked")).to_have_count(0)
    phone.goto(f"{site.address}/")
    phone.go_back()
    expect(phone.locator("#mine")).to_have_text("not kept on this device")
    expect(phone.locator("input:checked")).to_have_count(0)


def test_a_law_that_protects_less_than_the_page_shows_is_refused(visit: Callable[..., Any], site: Any) -> None:
    """One part in 2^52 too much for the truth, which no sample could notice."""
    identity = publish(site, kind="yes-no")
    phone = visit("/static/base/style.css", phone=True)

    def forge(route: Any) -> None:
        answer = route.fetch()
        law = re.search(r'"keep": (\d+)(.*?)"other": (\d+)', answer.text())
        forged = f'"keep": {int(law[1]) + 1}{law[2]}"other": {int(law[3]) - 1}'
        route.fulfill(response=answer, body=answer.text().replace(law[0], forged))

    phone.route("**/p/*", forge)
    phone.goto(f"{site.address}/p/{identity}")
    expect(phone.locator("#wrong")).to_contain_text("protects less than the ε = 1 it shows")
    expect(phone.locator("#send")).to_be_disabled()
    phone.unroute("**/p/*")
    phone.reload()
    expect(phone.locator("#law")).to_contain_text("ε = 1 for one report")
