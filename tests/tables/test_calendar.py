"""Dates and their parts against Python's calendar, for every day from 1900 to 2100."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import duckdb
import polars as pl
import pytest

from bruit.tables.expressions.days import civil_day, day_of_second, day_part, hour_of, local_second
from bruit.tables.expressions.nodes import Field, Node
from bruit.tables.expressions.to_polars import to_polars
from bruit.tables.expressions.to_sql import DUCKDB, to_sql
from bruit.tables.schema.calendar import PARTS, clock_changes, day_number, day_of, part_code, part_labels

FIRST, LAST = date(1900, 1, 1), date(2100, 12, 31)
DAYS = pl.DataFrame({"day": range(day_number(FIRST), day_number(LAST) + 1)})


def computed(node: Node, frame: pl.DataFrame, engine: str) -> list[int | None]:
    if engine == "polars":
        return frame.select(to_polars(node)).to_series().to_list()
    connection = duckdb.connect()
    connection.register("frame", frame.with_row_index("place").to_arrow())
    return [row[0] for row in connection.sql(f"SELECT {to_sql(node, DUCKDB)} FROM frame ORDER BY place").fetchall()]


@pytest.mark.parametrize("part", PARTS)
def test_every_day_has_the_part_that_pythons_calendar_gives_it(part: str) -> None:
    low = day_number(FIRST)
    expected = [part_code(part, day, first=low) for day in DAYS["day"]]
    for engine in ("polars", "duckdb"):
        assert computed(day_part(part, Field("day"), first=FIRST), DAYS, engine) == expected


def test_labels_are_those_that_pythons_calendar_writes() -> None:
    first, last = date(2024, 12, 30), date(2026, 1, 4)
    for part in PARTS:
        codes = {
            part_code(part, day, first=day_number(first)) for day in range(day_number(first), day_number(last) + 1)
        }
        assert codes == set(range(len(part_labels(part, first, last))))
    for day in (day_of(number) for number in range(day_number(first), day_number(last) + 1)):
        number, low = day_number(day), day_number(first)
        label = {part: part_labels(part, first, last)[part_code(part, number, first=low)] for part in PARTS}
        assert label["day"] == f"{day:%Y-%m-%d}"
        assert label["week"] == f"{day:%G-W%V}"
        assert label["month"] == f"{day:%Y-%m}"
        assert label["year"] == f"{day:%Y}"
        assert label["weekday"] == f"{day:%A}"
        assert label["month_of_year"] == f"{day:%B}"


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_day_is_what_pythons_calendar_says_and_what_is_no_day_is_missing(engine: str) -> None:
    rows = [(day.year, day.month, day.day) for day in (day_of(number) for number in DAYS["day"])]
    rows += [(2025, 2, 29), (2024, 2, 29), (1900, 2, 29), (2000, 2, 29), (2025, 13, 1), (2025, 0, 1), (0, 0, 0)]
    rows += [(0, 1, 1), (9999, 12, 31), (2025, 4, 31), (2025, 12, 31), (2025, 1, 99), (9999, 99, 99)]
    frame = pl.DataFrame(rows, schema=["year", "month", "day"], orient="row")

    def calendar(year: int, month: int, day: int) -> int | None:
        try:
            return day_number(date(year, month, day))
        except ValueError:
            return None

    node = civil_day(Field("year"), Field("month"), Field("day"))
    found = computed(node, frame, engine)
    dated = [day for row, day in zip(rows, found, strict=True) if row[0]]
    assert dated == [calendar(*row) for row in rows if row[0]]
    assert found[rows.index((0, 1, 1))] == day_number(date(1, 1, 1)) - 366


@pytest.mark.parametrize("zone", ["Europe/Paris", "Africa/Casablanca", "Australia/Lord_Howe"])
def test_changes_of_the_clock_are_those_of_the_zone(zone: str) -> None:
    first, last = date(1968, 6, 1), date(1990, 6, 1)
    changes = clock_changes(zone, first, last)
    start = datetime(first.year, first.month, first.day, tzinfo=UTC)
    moments = [start + timedelta(minutes=997 * i) for i in range(11_000)]
    moments += [datetime.fromtimestamp(change + side, UTC) for change, _ in changes[1:] for side in (-1, 0)]
    frame = pl.DataFrame({"second": [int(moment.timestamp()) for moment in moments]})
    local = local_second(Field("second"), changes)
    clocks = [moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for moment in moments]
    base = datetime(1970, 1, 1)
    assert computed(local, frame, "polars") == [int((clock - base).total_seconds()) for clock in clocks]
    assert computed(hour_of(local), frame, "duckdb") == [clock.hour for clock in clocks]
    assert computed(day_of_second(local), frame, "duckdb") == [day_number(clock.date()) for clock in clocks]
