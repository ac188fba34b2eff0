"""`bruit ledger` as a person types it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bruit.apps.cli import main
from bruit.ledger import Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, Pure


@pytest.fixture
def bruit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRUIT_STORE", raising=False)
    return lambda *typed: CliRunner().invoke(main, ["ledger", *typed])


CREATE = (
    "create",
    "payroll",
    "--epsilon",
    "3",
    "--delta",
    "1e-5",
    "--neighbours",
    "add or remove one",
    "--person",
    "id",
)


def test_create_charge_show_entries_export(bruit: Callable[..., Any], tmp_path: Path) -> None:
    assert json.loads(bruit(*CREATE, "--json").stdout)["left"] == 3.0
    ledger = Ledger.open("payroll", "sqlite:///bruit.db")
    ledger.budget(epsilon=0.5).charge(Pure(0.5, neighbours=ADD_OR_REMOVE_ONE), what="central.count[men]")
    assert json.loads(bruit("show", "--json").stdout)[0]["spent"] == 0.5
    assert json.loads(bruit("show", "payroll", "--json").stdout)["left"] == 2.5
    assert json.loads(bruit("entries", "payroll", "--json").stdout)[0]["what"] == "central.count[men]"
    assert json.loads(bruit("export", "payroll", "--folder", "out", "--json").stdout)["html"] == "out/payroll.html"
    assert json.loads((tmp_path / "out" / "payroll.json").read_text())["unit"] == "id"
    assert "<h1>Privacy statement: payroll</h1>" in (tmp_path / "out" / "payroll.html").read_text()


def test_people_see_tables(bruit: Callable[..., Any]) -> None:
    assert "payroll" in bruit(*CREATE).stdout
    Ledger.open("payroll", "sqlite:///bruit.db").budget(epsilon=0.5).charge(
        Pure(0.5, neighbours=ADD_OR_REMOVE_ONE), what="count[men]"
    )
    assert "2.5" in bruit("show").stdout
    shown = bruit("entries", "payroll", "--last", "1").stdout
    assert "Pure" in shown
    assert "count[men], " in shown
    assert "answer stored" in shown
    assert re.search(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2} ", shown)
    assert "ε = 3" in bruit("export", "payroll").stdout


def test_a_book_that_nothing_was_charged_to_says_so(bruit: Callable[..., Any]) -> None:
    bruit(*CREATE)
    assert bruit("entries", "payroll").stdout == "Nothing was charged to payroll yet.\n"


def test_a_new_book_says_what_it_may_tell_about_one_person(bruit: Callable[..., Any]) -> None:
    made = ("create", "visits", "--epsilon", "1", "--neighbours", "add or remove one", "--person", "id")
    assert "brought to 73.1%" in bruit(*made).stdout.replace("\n", " ")
    assert "brought to" not in bruit("create", "more", *made[2:], "--delta", "1e-6").stdout


@pytest.mark.parametrize("by", [(), ("--delta", "1e-6")], ids=["pure", "with a delta"])
@pytest.mark.parametrize(("epsilon", "allowed"), [("10.1", "96.1%"), ("20", "more than 99.9%")])
def test_a_large_epsilon_is_called_large_and_says_what_belief_it_allows(
    bruit: Callable[..., Any], by: tuple[Any, ...], epsilon: str, allowed: str
) -> None:
    made = ("create", "visits", "--epsilon", epsilon, "--neighbours", "add or remove one", "--person", "id", *by)
    shown = " ".join(bruit(*made).stdout.split())
    assert f"ε = {epsilon} is large" in shown
    assert f"one chance in a thousand can be brought to {allowed}" in shown
    assert ("even without its δ" in shown) == bool(by)
    assert "is large" not in bruit(*made, "--json").stdout


def test_creating_again_is_the_same_book_and_other_terms_are_refused(bruit: Callable[..., Any]) -> None:
    assert bruit(*CREATE).exit_code == bruit(*CREATE).exit_code == 0
    other = bruit(*CREATE, "--by", "zcdp")
    assert other.exit_code == 2
    assert "stands with by=basic" in other.stderr
    assert "bruit ledger show payroll" in other.stderr
    assert bruit("create", "other", *CREATE[2:], "--by", "rdp:20").exit_code == 0


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("show", "nothing"), "there is no database"),
        (("show", "--store", "nonsense"), "is not an address"),
        ((*CREATE[:3], "x", *CREATE[4:]), "is not a number"),
        ((*CREATE, "--by", "pld"), "an open book adds up by"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_2(bruit: Callable[..., Any], typed: tuple[Any, ...], said: str) -> None:
    done = bruit(*typed)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.output
