"""How results show themselves: tables, figures and guarantees in numbers."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars
import pytest

import bruit
from bruit.core import Covers, Guarantee, Interval, Release
from bruit.errors import InvalidArgument
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, Gaussian, Pure

GUARANTEE = Guarantee(Fraction(1, 10), Fraction(0), ADD_OR_REMOVE_ONE, EACH_ROW, "basic")


def shares() -> Release[np.ndarray]:
    low, high = np.array([0.1, -np.inf]), np.array([0.3, np.inf])
    interval = Interval(low, high, 0.95, Covers.POPULATION)
    return Release(np.array([0.2, 0.8]), GUARANTEE, "shares", ("<yes>", "no"), interval, 0.05)


def test_a_guarantee_shows_numbers_and_no_fraction() -> None:
    assert repr(GUARANTEE) == "Guarantee(ε = 0.1 for each row (add or remove one, by basic))"
    assert "Fraction" not in repr(shares())


def test_the_epsilon_of_a_guarantee_or_a_book_alone_shows_a_number_and_stays_exact() -> None:
    book = bruit.Ledger("rows", epsilon="0.3", delta=1e-6, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    left = book.remaining
    shown = (GUARANTEE.epsilon, GUARANTEE.delta, book.guarantee.epsilon, left.epsilon, left.delta, left.total)
    assert [repr(each) for each in shown] == ["0.1", "0", "0.3", "0.3", "0.000001", "0.3"]
    assert repr(copy.deepcopy(pickle.loads(pickle.dumps(GUARANTEE))).epsilon) == "0.1"
    assert 3 * GUARANTEE.epsilon == left.epsilon == Fraction(3, 10)
    assert GUARANTEE.to_json()["epsilon"] == "1/10"


def test_losses_and_protocols_show_decimals_and_no_fraction() -> None:
    price = Pure("0.1", neighbours=ADD_OR_REMOVE_ONE)
    assert repr(price) == "Pure(neighbours=add or remove one, epsilon=0.1)"
    assert "Fraction" not in repr(price * 3 + Gaussian("1/3", neighbours=ADD_OR_REMOVE_ONE))
    assert "e+399" in repr(Pure(10**399, neighbours=ADD_OR_REMOVE_ONE))  # beyond every float
    assert repr(bruit.local.KRR(["a", "b"], epsilon="0.5")).endswith("epsilon=0.5)")


def test_a_release_is_a_table_in_a_notebook_and_in_pandas() -> None:
    assert "ε = 0.1" in shares()._repr_html_()
    assert "0.8" in shares()._repr_html_()
    assert shares().to_pandas()["value"].tolist() == [0.2, 0.8]
    assert "object" in Release(object(), GUARANTEE, "model")._repr_html_()
    assert "&lt;b&gt;" in Release("<b>", GUARANTEE, "most common")._repr_html_()
    with pytest.raises(InvalidArgument, match="no numbers"):
        Release("b", GUARANTEE, "most common").plot()


def test_quotes_and_entries_show_numbers_and_no_fraction() -> None:
    book = bruit.Ledger("rows", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    table = bruit.tables.read(polars.DataFrame({"x": [1, 2]}), person=EACH_ROW)
    bruit.central.count(table, budget=book.budget(epsilon="0.3"))
    assert (
        repr(book.entries[0]) == "Entry(1: central.count, ε = 0.3 for each row (add or remove one, by basic), finished)"
    )
    search = bruit.learning.PrivateSearch(
        bruit.learning.NaiveBayes(domain=bruit.tables.within(0, 1, grid=1), classes=[0, 1]),
        {"rows_per_person": [1]},
        budget=book.budget(epsilon="0.3"),
    )
    assert repr(search.quote()) == "Quote(ε = 0.3 for each row (add or remove one, by basic))"


def test_a_figure_is_sound_svg_with_a_mark_for_each_label(tmp_path: Path) -> None:
    figure = shares().plot()
    root = ElementTree.fromstring(figure.save(tmp_path / "shares.svg").read_text())
    assert len(root.findall("{*}circle")) == len(root.findall("{*}line")) == 2
    assert next(text.text for text in root.findall("{*}text")) == "<yes>: 0.2"
    for line in root.findall("{*}line"):
        assert 0 <= float(line.attrib["x1"]) <= float(line.attrib["x2"]) <= 640
    book = bruit.Ledger("rows", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    table = bruit.tables.read(polars.DataFrame({"x": [1, 2]}), person=EACH_ROW)
    counted = bruit.central.count(table, budget=book.budget(epsilon=1))
    assert counted.plot()._repr_svg_().startswith("<svg")
