"""A teacher makes a poll, a phone answers it, the dashboard moves; nothing true ever travels."""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

sys.path.insert(0, str(Path(__file__).parent))
from apps.web.polls.devices import KEPT, answers, publish  # type: ignore[import-not-found]

from bruit.apps.languages import LANGUAGES
from bruit.local import Warner

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]

SECRET_ANSWER = "Ornithorhynchus"
"""An answer that no page would hold by chance."""


def send(phone: Any) -> None:
    phone.get_by_role("button", name="Add noise and send").click()
    expect(phone.locator("#state")).to_have_text(re.compile("^Thank you"))


def answer_on_phone(visit: Any, identity: Any, label: Any) -> Any:
    phone = visit(f"/p/{identity}", phone=True)
    phone.get_by_label(label, exact=True).check()
    send(phone)
    return phone


def test_create_answer_on_a_phone_and_watch_the_dashboard_move(
    visit: Callable[..., Any], assert_accessible: Callable[[Any], None], screenshot: Callable[[Any, str], None]
) -> None:
    teacher = visit("/polls/new", steward=True)
    assert_accessible(teacher)
    screenshot(teacher, "poll-new")
    teacher.get_by_label("The question").fill("Have you ever skipped a lecture?")
    teacher.get_by_label("Yes or no").check()
    teacher.get_by_label("Once", exact=True).check()
    teacher.get_by_label("ε of one report").fill("1")
    teacher.get_by_label("How many people will answer").fill("100")
    teacher.get_by_label("Only whoever has").check()
    teacher.get_by_role("button", name="See what it costs and tells").click()
    error = 100 * Warner(epsilon=1).expected_error(100, confidence=0.95)
    expect(teacher.get_by_text(f"± {error:.1f} points, 95 times out of 100")).to_be_visible()
    expect(teacher.get_by_text("73.1% sure")).to_have_count(1)
    expect(teacher.get_by_text("For ± 10 points: 469 answers")).to_have_count(1)
    assert_accessible(teacher)
    screenshot(teacher, "poll-preview")
    teacher.get_by_role("button", name="Publish").click()
    expect(teacher.locator("#answers")).to_have_text("0")
    expect(teacher.locator("svg.qr")).to_have_count(1)
    identity = teacher.url.rpartition("/")[2]
    phone = visit(f"/p/{identity}", phone=True)
    assert_accessible(phone)
    screenshot(phone, "poll-answer")
    phone.get_by_label("yes", exact=True).check()
    send(phone)
    assert_accessible(phone)
    screenshot(phone, "poll-answered")
    expect(teacher.locator("#answers")).to_have_text("1")
    answer_on_phone(visit, identity, "no")
    expect(teacher.locator("#answers")).to_have_text("2")
    expect(teacher.locator("#estimate-table tbody tr")).to_have_count(2)
    assert_accessible(teacher)
    screenshot(teacher, "poll-dashboard")
    expect(phone.get_by_text("Out of 100 people, about 73 send their true answer")).to_be_visible()
    teacher.get_by_role("link", name="Present it").click()
    expect(teacher.locator("#answers")).to_have_text("2")
    expect(teacher.locator("svg.qr")).to_be_visible()
    expect(teacher.locator("form")).to_have_count(0)
    assert [button.inner_text() for button in teacher.get_by_role("button").all()] == ["Full screen"]
    assert_accessible(teacher)
    screenshot(teacher, "poll-present")


def test_whoever_may_see_results_is_led_to_them(visit: Callable[..., Any], site: Any) -> None:
    identity = publish(site, kind="yes-no", results="everyone")
    phone = answer_on_phone(visit, identity, "no")
    phone.get_by_role("link", name="See what the crowd says").click()
    expect(phone.locator("#answers")).to_have_text("1")
    hidden = answer_on_phone(visit, publish(site, kind="yes-no", results="admin"), "no")
    expect(hidden.get_by_role("link", name="See what the crowd says")).to_have_count(0)


def test_the_dashboard_says_that_no_text_of_the_list_stands_out(visit: Callable[..., Any], site: Any) -> None:
    identity = publish(site, kind="text", choices=["a.example", "b.example"], results="everyone")
    page = visit(f"/polls/{identity}")
    expect(page.locator("#nothing")).to_have_text("The texts are looked for as soon as there are ten reports.")
    told = {"answers": 400, "raw": [], "beyond": [], "error": 0.2, "estimate": [], "open": True, "round": 1}
    event = f"event: results\ndata: {json.dumps(told)}\n\n"
    page.route("**/events", lambda route: route.fulfill(content_type="text/event-stream", body=event))
    page.reload()
    expect(page.locator("#nothing")).to_have_text("No text of the list stands out in these reports.")


def test_a_french_browser_answers_and_reads_results_in_french(
    visit: Callable[..., Any],
    site: Any,
    assert_accessible: Callable[[Any], None],
    screenshot: Callable[[Any, str], None],
) -> None:
    phone = visit(f"/p/{publish(site, kind='yes-no', forever='2')}", phone=True, language="fr-FR")
    expect(phone.locator("#law")).to_have_text(
        re.compile("^Ce script a vérifié, .* ε\u00a0=\u00a01 pour un envoi, 2 pour tous")
    )
    phone.get_by_role("button", name="Ajouter du bruit et envoyer").click()
    expect(phone.locator("#wrong")).to_have_text("Donnez d’abord une réponse.")
    phone.get_by_label("oui", exact=True).check()
    phone.get_by_role("button", name="Ajouter du bruit et envoyer").click()
    expect(phone.locator("#state")).to_have_text("Merci. Votre réponse bruitée est arrivée.")
    expect(phone.locator("#mine")).to_have_text("oui")
    expect(phone.locator("#what")).to_have_text(re.compile("^(oui|non)$"))
    assert '"report":' in phone.locator("#bytes").inner_text()
    assert_accessible(phone)
    screenshot(phone, "poll-answered-french")
    phone.get_by_role("link", name="Voir ce que dit le groupe").click()
    expect(phone.locator("#answers")).to_have_text("1")
    expect(phone.locator("#estimate-table tbody th")).to_have_text(["non", "oui"])
    expect(phone.locator("#error-now")).to_have_text(re.compile(r"^En ce moment ± \d+,\d points au pire"))
    expect(phone.locator("html")).to_have_attribute("lang", "fr")
    assert_accessible(phone)


def test_what_is_missing_is_said_in_the_form(
    visit: Callable[..., Any], assert_accessible: Callable[[Any], None]
) -> None:
    teacher = visit("/polls/new", steward=True)
    teacher.get_by_label("The question").fill("One choice?")
    teacher.get_by_label("One of several choices").check()
    teacher.get_by_label("The answers, one a line").fill("only")
    teacher.get_by_label("Again and again").check()
    teacher.get_by_label("ε of one report").fill("1")
    teacher.get_by_label("ε of all reports").fill("0.5")
    teacher.get_by_label("How many people will answer").fill("thirty")
    teacher.get_by_label("Everyone").check()
    teacher.get_by_role("button", name="See what it costs and tells").click()
    expect(teacher.get_by_text("must be above the ε of one")).to_have_count(1)
    expect(teacher.get_by_text("Say about how many people will answer")).to_have_count(1)
    teacher.get_by_label("How many people will answer").fill("30")
    assert_accessible(teacher)
    teacher.get_by_label("ε of all reports").fill("3")
    teacher.get_by_role("button", name="See what it costs and tells").click()
    expect(teacher.get_by_text("List from 2 to 50 different answers")).to_have_count(1)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"kind": "yes-no"}, r"Chance changed (\d+) of 1000 answers\. Sent: .* the truth is 30\s%\."),
        ({"kind": "number", "low": "0", "high": "10", "grid": "1"}, r"(\d+) of 1000 sent a 1\. .* the truth is 5\."),
        ({"kind": "choices", "choices": [*"abcdefghijklmnop"]}, r"One person .*changed (\d+) of 16 bits.*"),
        ({"kind": "text", "choices": ["a.example", "b.example"]}, r"One person .*changed (\d+) of 128 bits.*"),
    ],
    ids=["yes-no", "number", "choices", "text"],
)
def test_the_noise_is_shown_at_work_on_made_up_people(
    visit: Callable[..., Any], site: Any, assert_accessible: Callable[[Any], None], more: dict[str, Any], said: str
) -> None:
    page = visit(f"/polls/{publish(site, **more)}")
    page.emulate_media(reduced_motion="reduce")
    expect(page.locator("#answers")).to_have_text("0")
    page.get_by_role("button", name="Draw the noise").click()
    status = page.locator(".noise [role=status]")
    expect(status).to_have_text(re.compile(f"^{said}$"))
    found = re.fullmatch(said, status.inner_text())
    assert found is not None
    marked = ".noise circle:not([fill-opacity])" if more["kind"] == "number" else ".noise .changed"
    expect(page.locator(marked)).to_have_count(int(found[1]))
    expect(page.locator(".noise .unsent")).to_have_count(0)
    assert_accessible(page)


def test_a_number_is_asked_once_and_the_form_says_why(
    visit: Callable[..., Any], assert_accessible: Callable[[Any], None]
) -> None:
    teacher = visit("/polls/new", steward=True)
    teacher.get_by_label("Again and again").check()
    expect(teacher.get_by_text("A number is asked once")).to_be_hidden()
    teacher.get_by_label("A number, of which").check()
    expect(teacher.get_by_text("A number is asked once")).to_be_visible()
    assert teacher.get_by_label("Again and again").is_disabled()
    expect(teacher.get_by_label("Again and again")).not_to_be_checked()
    assert_accessible(teacher)
    teacher.get_by_label("Yes or no").check()
    assert teacher.get_by_label("Again and again").is_enabled()


def test_a_number_out_of_range_is_said_before_it_is_noised(visit: Callable[..., Any], site: Any) -> None:
    identity = publish(site, kind="number", low="0", high="12", grid="0.5")
    phone = visit(f"/p/{identity}", phone=True)
    sent = recorded(phone)
    for wrong in ("99", "-1", "7.3"):
        phone.locator("#field").fill(wrong)
        phone.get_by_role("button", name="Add noise and send").click()
        expect(phone.locator("#wrong")).not_to_be_empty()
    assert sent == []
    phone.locator("#field").fill("7.5")
    send(phone)


def test_a_poll_is_deleted_in_two_steps(visit: Callable[..., Any], site: Any) -> None:
    identity = publish(site, kind="yes-no")
    teacher = visit(f"/polls/{identity}", steward=True)
    expect(teacher.get_by_role("button", name="Delete it with all reports")).to_be_hidden()
    teacher.get_by_text("Delete it", exact=True).click()
    teacher.get_by_role("button", name="Delete it with all reports").click()
    assert teacher.url.endswith("/polls")
    with site.client() as client:
        assert client.get(f"/api/polls/{identity}").status_code == 404


def test_the_code_to_scan_comes_first_and_who_scans_is_told_where_it_leads(
    visit: Callable[..., Any], site: Any
) -> None:
    identity = publish(site, kind="yes-no")
    teacher = visit(f"/polls/{identity}", steward=True)
    expect(teacher.locator("svg.qr")).to_be_visible()
    expect(teacher.get_by_text("This address opens on this computer only")).to_be_visible()
    with site.client() as client:
        report = {"token": "cd" * 16, "round": 1, "report": 0}
        assert client.post(f"/api/polls/{identity}/reports", json=report).status_code == 200
        network = {"host": "192.0.2.7:8000", "authorization": f"Bearer {site.key}"}
        assert "on this computer only" not in client.get(f"/polls/{identity}", headers=network).text
    teacher.reload()
    expect(teacher.locator("svg.qr")).to_be_hidden()  # the results now
    teacher.get_by_text("Share it").click()
    expect(teacher.locator("svg.qr")).to_be_visible()


def test_a_link_that_leads_nowhere_is_a_page_of_words(
    visit: Callable[..., Any], site: Any, assert_accessible: Callable[[Any], None]
) -> None:
    for path in ("/p/abcdefghjk", "/p/Wrong", "/polls/Wrong"):
        page = visit(path, phone=True)
        expect(page.get_by_role("heading", name="Nothing is here")).to_have_count(1)
    assert_accessible(page)
    with site.client() as client:
        assert client.get("/p/Wrong").status_code == 404
        assert client.get("/api/polls/Wrong").status_code == 422


def test_a_second_answer_from_one_device_is_not_counted(visit: Callable[..., Any], site: Any) -> None:
    identity = publish(site, kind="yes-no")
    phone = answer_on_phone(visit, identity, "yes")
    sent = phone.locator("#bytes").inner_text()
    phone.reload()
    expect(phone.locator("#told")).to_be_visible()
    expect(phone.locator("#ask")).to_be_hidden()
    expect(phone.locator("#bytes")).to_have_text(sent)
    expect(phone.locator("#mine")).to_have_text("not kept on this device")
    with site.client() as client:
        again = client.post(f"/api/polls/{identity}/reports", content=sent)
        assert again.json() == {"accepted": True, "counted": False}
    phone.goto(f"{site.address}/static/base/style.css")
    phone.evaluate("new Promise(done => (indexedDB.deleteDatabase('bruit polls').onsuccess = done))")
    phone.goto(f"{site.address}/p/{identity}")
    phone.get_by_label("no", exact=True).check()
    phone.get_by_role("button", name="Add noise and send").click()
    expect(phone.locator("#state")).to_have_text(re.compile("^This device has already answered in this round"))
    expect(phone.locator("#again")).to_be_hidden()
    assert answers(site, identity) == 1


def travelled(site: Any, path: Any, language: str = "en") -> Any:
    """Bytes of a participant's page with its scripts and its style, as they travel to a browser."""
    scripts = [f"/static/polls/{name}.js" for name in ("client", "law", "memory")]
    with site.client(headers={"accept-language": language}) as client:
        paths = [path, *re.findall(r'"(/static/[^"]+)"', client.get(path).text), *scripts]
        total = 0
        for each in paths:
            with client.stream("GET", each) as answer:
                assert answer.headers["content-encoding"] == "gzip"
                total += sum(map(len, answer.iter_raw()))
    return total


def recorded(page: Any) -> Any:
    """Everything that leaves a page: addresses, headers and bodies of requests, and frames."""
    sent = []
    page.on("request", lambda asked: sent.append(f"{asked.method} {asked.url} {asked.all_headers()} {asked.post_data}"))
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    return sent


@pytest.mark.parametrize("kind", ["choices", "text"])
def test_the_true_answer_is_in_no_request(visit: Callable[..., Any], site: Any, kind: str) -> None:
    identity = publish(site, kind=kind, choices=[SECRET_ANSWER, *(f"Other {letter}" for letter in "abcdefg")])
    phone = visit("/static/base/style.css", phone=True)
    sent = recorded(phone)
    phone.goto(f"{site.address}/p/{identity}")
    if kind == "text":
        phone.get_by_label("Your answer", exact=True).fill(SECRET_ANSWER)
    else:
        phone.get_by_label(SECRET_ANSWER).check()
    send(phone)
    expect(phone.locator("#mine")).to_have_text(SECRET_ANSWER)
    posts = [line for line in sent if line.startswith("POST")]
    assert len(posts) == 1
    assert phone.locator("#bytes").inner_text() in posts[0]
    assert not [line for line in sent if SECRET_ANSWER.lower() in line.lower()]
    # a token, the round and the report are all there is, so the place of the answer is nowhere either
    report = r'(\d|"[0-9a-f]{2}"|\[[0-7],"[0-9a-f]{32}"\])'
    whole = rf'\{{"token":"[0-9a-f]{{32}}","round":1,"report":{report}\}}'
    assert re.fullmatch(whole, phone.locator("#bytes").inner_text())
    kept = phone.evaluate(KEPT)  # and asked once, the device forgets it too
    assert "token" in kept["sealed"][0]["body"]
    assert kept["noise"] == []
    assert SECRET_ANSWER not in str(kept)


def test_a_poll_asked_again_memoises_its_noise(visit: Callable[..., Any], site: Any) -> None:
    identity = publish(site, kind="yes-no", forever="2")
    phone = answer_on_phone(visit, identity, "yes")
    memory = phone.evaluate(KEPT)["noise"]
    assert [list(noise) for noise in memory] == [["1"]]
    teacher = visit(f"/polls/{identity}", steward=True)
    teacher.get_by_role("button", name="Ask the next round").click()
    expect(teacher.locator("#round")).to_have_text(", round 2")
    phone.reload()
    phone.get_by_label("yes", exact=True).check()
    send(phone)
    assert phone.evaluate(KEPT)["noise"] == memory
    assert '"round":2' in phone.locator("#bytes").inner_text()
    assert answers(site, identity) == 1


def test_it_works_by_keyboard_alone(visit: Callable[..., Any], site: Any) -> None:
    page = visit(f"/p/{publish(site, kind='choices', choices=['red', 'green', 'blue'])}")
    expect(page.locator("#send")).to_be_enabled()  # until the script has read what this device remembers it is skipped
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "send"
    page.keyboard.press("Enter")
    expect(page.locator("#state")).to_have_text(re.compile("^Thank you"))
    assert page.evaluate("document.activeElement.id") == "state"


def test_it_works_where_only_get_random_values_exists(visit: Callable[..., Any], site: Any) -> None:
    """On a plain-http network address crypto.subtle and crypto.randomUUID are missing."""
    identity = publish(site, kind="number", low="0", high="12", grid="0.5")
    phone = visit("/static/base/style.css", phone=True)
    phone.add_init_script("delete Crypto.prototype.subtle; delete Crypto.prototype.randomUUID")
    phone.goto(f"{site.address}/p/{identity}")
    assert phone.evaluate("crypto.subtle === undefined && crypto.randomUUID === undefined")
    expect(phone.locator("#send")).to_be_enabled()
    phone.locator("#field").fill("7.5")
    phone.locator("#field").press("Enter")
    expect(phone.locator("#state")).to_have_text(re.compile("^Thank you"))


def test_a_report_that_did_not_arrive_is_sent_again_with_the_same_bytes(visit: Callable[..., Any], site: Any) -> None:
    identity = publish(site, kind="yes-no")
    phone = visit(f"/p/{identity}", phone=True)
    tries = []

    def lose_once(route: Any) -> None:
        tries.append(route.request.post_data)
        route.continue_() if len(tries) > 1 else route.fulfill(status=503, body='{"detail":"Busy."}')

    phone.route("**/reports", lose_once)
    phone.get_by_label("yes", exact=True).check()
    phone.get_by_role("button", name="Add noise and send").click()
    expect(phone.locator("#state")).to_have_text(re.compile("^The server is busy"))
    phone.get_by_role("button", name="Send the same bytes again").click()
    expect(phone.locator("#state")).to_have_text(re.compile("^Thank you"))
    assert tries[0] == tries[1]
    assert answers(site, identity) == 1


def test_the_password_opens_the_results_and_a_wrong_one_does_not(
    visit: Callable[..., Any], site: Any, assert_accessible: Callable[[Any], None]
) -> None:
    identity = publish(site, kind="yes-no", results="admin", password="correct horse")
    page = visit(f"/polls/{identity}")
    assert page.url.endswith("/password")
    assert_accessible(page)
    page.get_by_label("Password").fill("wrong horse")
    page.get_by_role("button", name="Show the results").click()
    expect(page.get_by_text("That is not the password.")).to_have_count(1)
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Show the results").click()
    expect(page.locator("#answers")).to_have_text("0")
    expect(page.get_by_text("Your secret link")).to_have_count(0)


@pytest.mark.parametrize("kind", ["choices", "text"])
def test_the_export_reproduces_the_estimate(site: Any, tmp_path: Path, kind: str) -> None:
    from bruit.apps.web import PollClient

    identity = publish(site, kind=kind, epsilon="4", choices=["red", "green", "blue"])
    poll = PollClient(f"{site.address}/p/{identity}")
    assert poll.send(poll.seal(["red"] * 60 + ["green"] * 30 + ["blue"] * 10)) == 100
    with site.client() as client:
        for name in ("reports.csv", "estimates.csv", "reproduce.py"):
            (tmp_path / name).write_bytes(client.get(f"/polls/{identity}/{name}").content)
    code = [sys.executable, str(tmp_path / "reproduce.py"), str(tmp_path / "reports.csv")]
    said = subprocess.run(code, check=True, capture_output=True, text=True).stdout.splitlines()
    again = [(row["label"], float(row["value"])) for row in csv.DictReader(said[1:-1])]
    with (tmp_path / "estimates.csv").open() as file:
        shown = [(row["answer"], float(row["estimate"])) for row in csv.DictReader(file)]
    assert again == shown
    assert shown[0][0] == "red"


def test_a_closed_poll_takes_no_answer(visit: Callable[..., Any], site: Any) -> None:
    identity = publish(site, kind="yes-no")
    with site.client(headers={"authorization": f"Bearer {site.key}"}, follow_redirects=True) as client:
        form = client.get("/polls")
        token = re.search(r'name="csrf" content="(\w+)"', form.text)[1]
        assert client.post(f"/polls/{identity}/close").status_code == 403
        assert client.post(f"/polls/{identity}/close", headers={"x-csrf-token": token}).status_code == 200
        late = {"token": "ab" * 16, "round": 1, "report": 1}
        assert client.post(f"/api/polls/{identity}/reports", json=late).status_code == 423
    phone = visit(f"/p/{identity}", phone=True)
    assert phone.locator("#send").is_disabled()
    expect(phone.get_by_text("This poll is closed.")).to_have_count(1)


def test_thirty_choices_are_answered_on_a_phone_and_travel_in_ten_kilobytes(
    visit: Callable[..., Any], site: Any, assert_accessible: Callable[[Any], None]
) -> None:
    cities = [f"The city of number {number}" for number in range(30)]
    identity = publish(site, kind="choices", choices=cities, forever="3")
    phone = visit(f"/p/{identity}", phone=True)
    expect(phone.get_by_role("radio")).to_have_count(30)
    assert_accessible(phone)
    sent = recorded(phone)
    for city in (cities[3], cities[29]):
        phone.get_by_label(city, exact=True).check()
    phone.wait_for_timeout(100)
    assert sent == []  # choosing sends nothing
    send(phone)
    expect(phone.locator("#mine")).to_have_text(cities[29])
    assert answers(site, identity) == 1
    assert max(travelled(site, f"/p/{identity}", language) for language in LANGUAGES) <= 10_000


def test_a_label_of_a_chart_is_text_whatever_it_holds(visit: Callable[..., Any], site: Any) -> None:
    label = "<a href='x'>a &lt; b</a>"
    identity = publish(site, kind="choices", choices=[label, "other"])
    with site.client() as client:
        report = {"token": "cd" * 16, "round": 1, "report": 0}
        assert client.post(f"/api/polls/{identity}/reports", json=report).status_code == 200
    page = visit(f"/polls/{identity}")
    expect(page.locator("#answers")).to_have_text("1")
    expect(page.locator("#estimate-figure text").first).to_have_text(label)
    expect(page.locator("#estimate-figure a")).to_have_count(0)


@pytest.mark.parametrize("kind", ["yes-no", "number", "text"])
def test_the_participants_page_is_at_most_ten_kilobytes(site: Any, kind: Any) -> None:
    more: dict[str, Any] = {
        "number": {"low": "0", "high": "10", "grid": "1"},
        "text": {"choices": ["a.example", "b.example"], "forever": "2"},
        "yes-no": {"forever": "2"},
    }
    with site.client() as client:
        page = client.get(f"/p/{publish(site, kind=kind, **more[kind])}")
        assert "set-cookie" not in page.headers
        assert "form-action 'none'" in page.headers["content-security-policy"]
    assert max(travelled(site, page.url.path, language) for language in LANGUAGES) <= 10_000
