"""Pictures of every page of the web application, in light, dark and phone size, to be looked at; and what axe finds.

    python -m scripts.screenshots FOLDER [PAGE…]

A server of its own runs over a temporary database with made-up polls, a book with releases, and a stream.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np

import bruit
from bruit.apps.data import people
from bruit.apps.web import PollClient
from bruit.apps.web.collectors.second import SecondCollector
from bruit.tables.schema import Schema, category, number, text
from scripts import system_parts

KEY: Final = "a-key-for-pictures-0123456789"
TIMEOUT: Final = 300_000
"""Milliseconds to wait for a page: a synthetic table takes its time on a busy machine."""

LOOKS: Final[dict[str, dict[str, Any]]] = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "locale": "fr-FR"},
}
QUESTIONS: Final[dict[str, dict[str, Any]]] = {
    "yes-no": {"kind": "yes-no", "question": "Have you ever skipped a lecture?"},
    "choices": {"kind": "choices", "question": "How do you travel?", "choices": ["walk", "bike", "bus", "car"]},
    "number": {"kind": "number", "question": "Hours of sleep?", "low": "0", "high": "12", "grid": "0.5"},
    "text": {"kind": "text", "question": "Which site first?", "choices": ["a.example", "b.example", "c.example"]},
}
ANSWERS: Final[dict[str, list[Any]]] = {
    "yes-no": ["yes"] * 120 + ["no"] * 280,
    "choices": ["walk"] * 150 + ["bike"] * 120 + ["bus"] * 90 + ["car"] * 40,
    "number": [*np.linspace(4, 10, 400)],
    "text": ["a.example"] * 300 + ["b.example"] * 100,
}


TOWN: Final = Schema(
    "id",
    {
        "id": text(),
        "age": number(18, 95, grid=1),
        "sex": category(["f", "m"]),
        "city": category(["Lyon", "Lagos", "Leeds", "Lima"]),
        "income": number(0, 200_000, grid=100),
        "illness": category(["none", "flu", "asthma", "diabetes", "cancer"]),
    },
    name="town",
)
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
OPEN: Final[dict[str, Any]] = {
    "kind": "open",
    "question": "Lunch?",
    "alphabet": LETTERS,
    "length": 5,
    "rounds": 4,
    "epsilon": "4",
}
DISHES: Final = np.array(["pizza"] * 400 + ["sushi"] * 300 + ["tapas"] * 300)
STEWARD: Final = ("schema", "table", "look", "risk", "ask", "ask-preview")
"""Pages of a loaded table on the way to an answer."""

SYNTHETIC: Final = ("synthesise", "synthesise-preview", "synthetic", "synthetic-compared")
"""Pages on the way to a synthetic table, in order."""


def fill_book(store: str) -> None:
    """A book with a histogram, deciles, a mean and a registered table, and a stream of its own."""
    table = people(2000)
    book = bruit.Ledger("town", epsilon=8, delta="1e-5", neighbours=bruit.ADD_OR_REMOVE_ONE, person="id", store=store)
    read = bruit.tables.read(table, person="id").limit(rows=1)
    income = read["income"].within(0, 200_000, grid=100)
    bruit.central.quantiles(income, bruit.DECILES, budget=book.budget(epsilon=1))
    bruit.central.mean(income, budget=book.budget(epsilon=0.5))
    bruit.central.histogram(read["city"].among(["Lyon", "Lagos", "Leeds", "Lima"]), budget=book.budget(epsilon=0.5))
    schema = Schema("id", {"id": text(), "income": number(0, 200_000, grid=100)}, name="people")
    for _ in range(2):
        bruit.tables.register(table.select("id", "income"), schema, ledger=book)
    once = bruit.continual.once()
    price = book.budget(epsilon=1, delta="1e-6")
    visits = bruit.continual.Stream(
        "visits", bruit.continual.Count(rows=1), participation=once, periods=30, budget=price
    )
    for day in range(12):
        visits.update(bruit.tables.read(table[day * 90 : (day + 1) * 90], person="id"))


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server over a temporary database."""
    store = f"sqlite:///{folder}/bruit.db"
    fill_book(store)
    people(2000).select(list(TOWN.columns)).write_csv(folder / "town.csv")
    command = [str(Path(sys.executable).parent / "bruit"), "serve", "--json", "--port", "0", "--key", KEY]
    process = subprocess.Popen([*command, "--database", store], stdout=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout is not None
    said = ""
    while not said.rstrip().endswith("}"):
        said += process.stdout.readline()
    try:
        yield str(json.loads(said)["address"])
    finally:
        process.terminate()
        process.wait(20)


def make_polls(address: str) -> dict[str, str]:
    """A poll of each kind with its answers; its identity by its kind."""
    made = {}
    for kind, question in QUESTIONS.items():
        body = {"epsilon": "2", "forever": None, "results": "everyone", "password": "x"} | question
        answered = httpx.post(
            f"{address}/api/polls", json=body, headers={"authorization": f"Bearer {KEY}"}, timeout=TIMEOUT / 1000
        )
        made[kind] = str(answered.raise_for_status().json()["id"])
        poll = PollClient(f"{address}/p/{made[kind]}")
        poll.send(poll.seal(ANSWERS[kind]))
    return made


def make_open_poll(address: str) -> str:
    """The identity of an open question in four rounds, all of them answered."""
    rng = np.random.default_rng(1)
    body = {"forever": None, "results": "everyone", "password": "x"} | OPEN
    with httpx.Client(base_url=address, timeout=TIMEOUT / 1000, headers={"authorization": f"Bearer {KEY}"}) as steward:
        identity = str(steward.post("/api/polls", json=body).raise_for_status().json()["id"])
        search = bruit.local.PrefixRounds(LETTERS, 5, rounds=4, epsilon=4)
        mine = search.drawn_rounds(len(DISHES), rng=rng)
        for number in range(1, 5):
            poll = PollClient(f"{address}/p/{identity}")
            poll.send(poll.seal(DISHES[mine == number].tolist()))
            if number < 4:
                steward.get(f"/enter/{KEY}")
                token = re.findall('name="csrf" value="([^"]+)"', steward.get("/polls/new").text)[0]
                steward.post(f"/polls/{identity}/next-round", headers={"x-csrf-token": token}, data={"round": number})
    return identity


def make_split_poll(address: str, folder: Path) -> str:
    """The name of a poll of two collectors, the second of which is this process."""
    asked = {"question": "Where to?", "kind": "choices", "labels": ["sea", "hills"], "epsilon": "1", "least_batch": 10}
    sent = asked | {"name": "The school", "address": address}
    made = httpx.post(f"{address}/collectors/api/invitations", json=sent, headers={"authorization": f"Bearer {KEY}"})
    link = str(made.raise_for_status().json()["link"])
    return SecondCollector(link, f"sqlite:///{folder}/second.db", name="The library").task.name


def pages(polls: dict[str, str], split: str) -> dict[str, str]:
    """The address of every page by the name of its picture."""
    found = {"home": "/", "polls": "/polls", "poll-new": "/polls/new", "poll-preview": "/polls/new"}
    found |= {"split": "/collectors", "answer-split": f"/collectors/{split}"}
    for kind, identity in polls.items():
        found |= {f"answer-{kind}": f"/p/{identity}", f"results-{kind}": f"/polls/{identity}"}
    found |= {"answered": f"/p/{polls['yes-no']}", "present-open": f"/polls/{polls['open']}/present"}
    found |= {"present": f"/polls/{polls['choices']}/present", "password": f"/polls/{polls['choices']}/password"}
    found |= {f"explorer-{tool}": f"/explorer/{tool}" for tool in ("budget", "belief", "accuracy")}
    found |= {"workbench": "/workbench", "new-book": "/workbench/new-book", "book": "/workbench/book?name=town"}
    for entry in (1, 2, 3):
        found[f"release-{entry}"] = f"/workbench/release?book=town&number={entry}"
    found |= {"statement": "/workbench/release/statement?book=town&number=1", "streams": "/streams"}
    found["stream"] = "/streams/show?book=town&stream=visits"
    found |= {"registered": "/workbench/registered", **dict.fromkeys((*STEWARD, *SYNTHETIC), "/workbench")}
    return found | {"studies": "/studies", "study": "/studies/mnist", "missing": "/nothing"}


def load_table(page: Any, table: Path) -> None:
    """Uploads a table, up to the page that asks for its schema."""
    page.locator("#file").set_input_files(table)
    page.get_by_role("button", name="Load", exact=True).click()
    page.get_by_text("Or paste a schema in TOML").wait_for()


def use_schema(page: Any) -> None:
    """Gives a loaded table its schema."""
    page.get_by_text("Or paste a schema in TOML").click()
    page.locator("#toml").fill(TOWN.to_toml())
    page.get_by_role("button", name="Use it").click()


def walk_to_answer(page: Any, name: str, table: Path) -> None:
    """Loads a table and goes on to the page of this name."""
    load_table(page, table)
    if name == "schema":
        return
    use_schema(page)
    if name == "look":
        page.get_by_role("button", name="Look at the exact figures").click()
    if name == "risk":
        page.locator("#quasi").select_option(["age", "city", "sex"])
        page.locator("#sensitive").select_option("illness")
        page.get_by_role("button", name="Show the risk report").click()
    if name.startswith("ask"):
        page.get_by_role("link", name="Ask", exact=True).click()
    if name == "ask-preview":
        page.locator("[name=rows_asked]").check()
        for field, value in {"what_1": "mean", "of_1": "income", "key_1": "city", "book": "town"}.items():
            page.locator(f"#{field}").select_option(value)
        for field, value in {"rows": "1", "epsilon": "0.5"}.items():
            page.locator(f"#{field}").fill(value)
        page.get_by_role("button", name="Preview the price and the precision").click()
        page.locator("#pay").wait_for()


def walk_to_synthetic(page: Any, name: str, table: Path) -> None:
    """Loads a table and goes on the way to a synthetic one as far as the page of this name."""
    load_table(page, table)
    use_schema(page)
    page.get_by_role("link", name="Make a synthetic table").click()
    if name == "synthesise":
        return
    page.locator("summary.title").click()
    fields = {"rows": "1", "epsilon": "0.5", "delta": "1e-6", "edges_0": "30, 45, 60, 75"}
    for field, value in (fields | {"edges_3": "10000, 20000, 40000, 60000, 100000"}).items():
        page.locator(f"#{field}").fill(value)
    for field, value in {"rows_are": "noisy", "book": "town"}.items():
        page.locator(f"#{field}").select_option(value)
    page.get_by_role("button", name="Preview the price").click()
    if name == "synthesise-preview":
        return
    page.get_by_role("button", name="Pay and make the table").click()
    for field, value in {"column_1": "city", "column_2": "illness"}.items():
        page.locator(f"#{field}").select_option(value)
    page.locator("#value_1").fill("Lyon")
    page.locator("#value_2").fill("asthma")
    page.get_by_role("button", name="Count").click()
    if name == "synthetic-compared":
        page.get_by_role("button", name="Compare, exactly").click()


def act(page: Any, name: str, folder: Path) -> None:
    """Presses what shows a page at work, and waits for figures."""
    if name in STEWARD:
        walk_to_answer(page, name, folder / "town.csv")
    if name in SYNTHETIC:
        walk_to_synthetic(page, name, folder / "town.csv")
    if name == "answered":
        page.locator("[name=a][value=yes]").check()
        page.locator("#send").click()
        page.locator("#told").wait_for()
    if name == "home":
        page.locator("[data-answer=yes]").click()
    if name == "poll-preview":
        fields = {"question": "Have you ever skipped a lecture?", "epsilon": "1", "people": "120"}
        for field, value in fields.items():
            page.locator(f"#{field}").fill(value)
        for field, value in {"kind": "yes-no", "again": "no", "results": "everyone"}.items():
            page.locator(f"[name={field}][value={value}]").check()
        page.locator("main form button").click()
    page.evaluate("document.querySelectorAll('img').forEach(image => { image.loading = 'eager' })")
    for button in page.locator(".noise[data-view] button").all():
        button.click()
    page.wait_for_timeout(2500 if page.locator(".noise, .figure").count() else 200)


def main() -> None:
    """Takes the pictures."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    folder, wanted = Path(sys.argv[1]), set(sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as held, serving(Path(held)) as address, sync_playwright() as started:
        polls = make_polls(address) | {"open": make_open_poll(address)}
        found = pages(polls, make_split_poll(address, Path(held)))
        browser = started.chromium.launch(executable_path=system_parts.browser(), args=["--no-sandbox"])
        for look, settings in LOOKS.items():
            context = browser.new_context(**settings)
            page = context.new_page()
            page.set_default_timeout(TIMEOUT)
            page.goto(f"{address}/enter/{KEY}")
            for name, path in found.items():
                if wanted and name not in wanted:
                    continue
                page.goto(address + path)
                act(page, name, Path(held))
                page.screenshot(path=folder / f"{name}-{look}.png", full_page=True)
                for one in Axe().run(page).response["violations"]:
                    print(f"{name}, {look}: {one['id']}: {one['nodes'][0]['html'][:120]}")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
