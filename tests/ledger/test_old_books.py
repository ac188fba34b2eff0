"""A book that bruit 1.0 wrote is read and charged as before; `data/book_of_1_0.sql` is the dump of its database."""

import sqlite3
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bruit.core import ADD_OR_REMOVE_ONE, Outcome, Pure
from bruit.ledger import Ledger, page, statement

NAME = "payroll of 1.0"
DUMP = Path(__file__).parent / "data" / "book_of_1_0.sql"


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    database = sqlite3.connect(tmp_path / "old.db")
    database.executescript(DUMP.read_text())
    database.close()
    return Ledger.open(NAME, f"sqlite:///{tmp_path}/old.db")


def test_terms_totals_and_entries_are_those_that_1_0_told(book: Ledger) -> None:
    assert (book.epsilon, book.delta) == (Fraction(5), Fraction(1, 1000))
    assert (book.neighbours, book.person) == (ADD_OR_REMOVE_ONE, "each row")
    assert book.spent.epsilon == Fraction(186185169785023, 120120000000000)
    assert book.partition("month").spent("may").total == Fraction(186185169785023, 120120000000000)
    told = [(line.what, line.state) for line in book.entries]
    assert told == [
        ("central.count", "finished"),
        ("central.histogram", "finished"),
        ("learning.NaiveBayes", "open"),  # 1.0 kept no fits
        ("three counts", "open"),
        ("central.count", "finished"),
    ]


def test_its_releases_are_read_and_get_receipts(book: Ledger) -> None:
    count, histogram, last = book.releases
    assert (count.value, last.value) == (6, -1)
    np.testing.assert_array_equal(histogram.value, [1, 2, -2])
    assert [release.receipt for release in book.releases] == [book.receipt(number) for number in (1, 2, 5)]


def test_it_is_charged_and_finished_like_a_new_one(book: Ledger) -> None:
    charge = book.budget(epsilon=1).charge(Pure(1, neighbours=ADD_OR_REMOVE_ONE), what="count")
    charge.finish(Outcome(3, "count"))
    assert (book.entries[-1].number, book.entries[-1].state, book.releases[-1].value) == (6, "finished", 3)


def test_a_statement_of_1_0_still_makes_a_page(book: Ledger) -> None:
    description = statement(book)
    for line in description["entries"]:
        del line["state"]
    assert page(description).count("charged; nothing was kept") == 2
