"""The figure of a stream: every point inside its frame, every band around its line."""

from itertools import pairwise
from typing import Any

import polars
from hypothesis import given
from hypothesis import strategies as st

from bruit.apps.web.streams.band_figure import HEIGHT, LEFT, RIGHT, TOP, WIDTH, band_figure

NUMBERS = st.floats(-1e9, 1e9).map(lambda number: round(number, 3))


def points(text: Any) -> Any:
    return [tuple(map(float, pair.split(","))) for pair in text.split()]


@given(st.lists(st.tuples(NUMBERS, st.floats(0, 1e6)), min_size=1, max_size=30))
def test_points_lie_in_the_frame_and_bands_around_their_lines(values: list[tuple[Any, float]]) -> None:
    rows = [(t + 1, "A", value, value - width, value + width) for t, (value, width) in enumerate(values)]
    series = polars.DataFrame(rows, schema=["period", "label", "value", "low", "high"], orient="row")
    figure = band_figure(series, ["A"])
    [line] = figure.lines
    middle, around = points(line.points), points(line.band)
    assert len(middle) == len(values)
    for x, y in (*middle, *around):
        assert LEFT - 1 <= x <= WIDTH - RIGHT + 1
        assert TOP - 1 <= y <= figure.bottom + 1
    for (x, y), (x_high, above), (x_low, below) in zip(middle, around, reversed(around), strict=False):
        assert x == x_high == x_low
        assert above <= y <= below
    assert all(0 <= tick.place <= HEIGHT for tick in figure.up)


def test_names_stand_apart_and_what_has_no_interval_has_no_band() -> None:
    rows = [(t, label, 10.0, None, None) for t in (1, 2) for label in "ABC"]
    series = polars.DataFrame(
        rows, schema={"period": int, "label": str, "value": float, "low": float, "high": float}, orient="row"
    )
    figure = band_figure(series, ["A", "B", "C"])
    assert [line.label for line in figure.lines] == ["A", "B", "C"]
    places = sorted(line.name_at for line in figure.lines)
    assert min(later - earlier for earlier, later in pairwise(places)) >= 14
    assert all(line.band == "" and line.points for line in figure.lines)
    assert [tick.text for tick in figure.across] == ["1", "2"] or len(figure.across) >= 2
