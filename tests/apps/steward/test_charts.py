"""Charts of answers: well-formed, on round ticks that hold every interval, with no script and no markup of a label."""

from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit.apps.steward.answers import AnswerTable, labelled_table
from bruit.apps.steward.axes import tick_places
from bruit.apps.steward.charts import MOST_BARS, charts_of, svg_of, svg_on_page
from bruit.apps.steward.quantile_curves import QuantileCurve
from bruit.core.guarantee import Guarantee
from bruit.core.intervals import Covers, Interval
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.core.release import Release

NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)


def answer(labels: Any, values: Any, width: float = 5.0) -> Any:
    values = np.asarray(values, float)
    guarantee = Guarantee(1, 0, ADD_OR_REMOVE_ONE, "id", "basic")
    interval = Interval(values - width, values + width, 0.95, Covers.TABLE)
    frame = pl.DataFrame({"ward": labels, "n": values, "n low": values - width, "n high": values + width})
    return AnswerTable("Stays", "rows", frame, ("ward",), ("n",), Release(values, guarantee, "m", interval=interval))


@given(st.floats(0, 1e12), st.floats(0, 1e12))
def test_ticks_are_round_and_hold_the_whole_range(below: float, above: float) -> None:
    low, high = -below, above
    ticks = tick_places(low, high)
    assert 2 <= len(ticks) <= 8
    steps = np.diff(ticks)
    assert ticks[0] <= low + 1e-6 * steps[0]
    assert ticks[-1] >= high - 1e-6 * steps[0]
    assert float(f"{steps[0]:.6e}".split("e")[0]) in (1.0, 2.0, 5.0)


@given(st.lists(st.tuples(st.text(max_size=40), NUMBERS), min_size=1, max_size=8))
def test_every_chart_is_well_formed_and_shows_no_markup_of_a_label(rows: list[tuple[str, Any]]) -> None:
    labels = ["".join(c for c in label if c.isprintable()) for label, _ in rows]
    drawn = svg_of(answer([f"<script>{label}" for label in labels], [value for _, value in rows]))
    root = ElementTree.fromstring(drawn)
    assert not [each for each in root.iter() if each.tag.endswith("script")]
    bars = [each for each in root.iter() if each.get("class") == "bar"]
    assert len(bars) == len(rows)
    assert all(0 <= float(each.get("x")) <= 720 for each in bars)


def test_intervals_are_drawn_at_their_ends() -> None:
    root = ElementTree.fromstring(svg_on_page(charts_of(answer(["a"], [50.0]))[0]))
    whisker = next(each for each in root.iter() if each.get("class") == "end")
    bar = next(each for each in root.iter() if each.get("class") == "bar")
    scale = float(bar.get("width")) / 50
    assert float(whisker.get("x2")) - float(whisker.get("x1")) == pytest.approx(10 * scale, abs=0.3)


def test_more_groups_than_fit_are_in_the_files() -> None:
    chart = charts_of(answer([str(i) for i in range(MOST_BARS + 7)], range(MOST_BARS + 7)))[0]
    assert len(chart.labels) == MOST_BARS
    assert "7 more groups are in the files" in chart.note


def test_deciles_are_a_curve_over_the_stated_bounds() -> None:
    """At a price that leaves no noise, the dots stand where numpy finds the quantiles, on the axis of the bounds."""
    people = pl.DataFrame({"income": np.arange(0, 20_001, 10)})
    income = bruit.tables.read(people, person=bruit.EACH_ROW)["income"].within(0, 50_000, grid=10)
    book = bruit.Ledger("b", epsilon=1000, neighbours=ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
    release = bruit.central.quantiles(income, bruit.DECILES, budget=book.budget(epsilon=1000))
    table = labelled_table(release, "incomes")
    assert table is not None
    (curve,) = charts_of(table)
    root = ElementTree.fromstring(svg_on_page(curve))
    ticks = [
        float(each.get("x1"))
        for each in root.iter()
        if each.get("class") == "grid" and each.get("x1") == each.get("x2")
    ]
    dots = [(float(each.get("cx")), float(each.get("cy"))) for each in root.iter() if each.get("class") == "dot"]
    scale = (ticks[-1] - ticks[0]) / 50_000
    truth = np.quantile(people["income"].to_numpy(), np.arange(1, 10) / 10)
    assert [(x - ticks[0]) / scale for x, _ in dots] == pytest.approx(truth, abs=100)
    assert np.diff([y for _, y in dots]) == pytest.approx(np.full(8, dots[1][1] - dots[0][1]), abs=0.11)
    assert [each.get("class") for each in root.iter() if each.tag.endswith("polyline")] == ["reach", "reach", "line"]


def test_quantiles_of_a_column_are_one_curve_a_group_and_other_values_stay_bars() -> None:
    guarantee, rows = Guarantee(1, 0, ADD_OR_REMOVE_ONE, "id", "basic"), {"ward": ["a", "b"], "n": [3.0, 4.0]}
    for share in (0.25, 0.5, 0.75):
        name = f"days {share}"
        rows |= {
            name: [10 * share, 20 * share],
            f"{name} low": [10 * share - 1] * 2,
            f"{name} high": [20 * share + 1] * 2,
        }
    values = ("n", "days 0.75", "days 0.25", "days 0.5")
    interval = Interval(np.zeros(2), np.ones(2), 0.95, Covers.TABLE)
    released = Release(np.zeros(2), guarantee, "m", interval=interval)
    first, second, bars = charts_of(AnswerTable("Days", "days", pl.DataFrame(rows), ("ward",), values, released))
    assert isinstance(first, QuantileCurve)
    assert isinstance(second, QuantileCurve)
    assert (first.shares.tolist(), first.values.tolist()) == ([0.25, 0.5, 0.75], [2.5, 5.0, 7.5])
    assert second.title.endswith("of days: b")
    assert bars.title == "n"
