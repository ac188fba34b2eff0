"""Anomalies are counted, and nothing else is shown unless asked."""

import json
from typing import Any

import polars
import pytest

from bruit import tables
from bruit.anonymity import check
from bruit.errors import InvalidArgument
from bruit.tables import among, within

PEOPLE = polars.DataFrame(
    {
        "id": ["a", "a", "a", "b", "c"],
        "age": ["30", "-1", "200", "old", None],
        "sex": ["m", "f", "x", None, "m"],
    }
)
DOMAIN: dict[str, Any] = {"age": within(0, 120, grid=1), "sex": among(["m", "f"])}


def test_each_anomaly_is_counted() -> None:
    age, sex = check(PEOPLE, DOMAIN).columns
    assert (age.missing, age.unreadable, age.below, age.above, age.unknown) == (1, 1, 1, 1, 0)
    assert (sex.missing, sex.unknown) == (1, 1)
    assert (age.anomalies, sex.anomalies) == (4, 2)


def test_people_with_many_rows_are_counted() -> None:
    found = check(tables.read(PEOPLE, person="id").limit(rows=2), DOMAIN)
    assert (found.people, found.most_rows, found.beyond_limit) == (3, 3, 1)
    assert check(tables.read(PEOPLE, person="id"), DOMAIN).beyond_limit is None
    assert check(PEOPLE, DOMAIN).people is None


def test_numbers_and_not_a_number_are_read() -> None:
    found = check(polars.DataFrame({"x": [1.0, float("nan"), 5.0]}), {"x": within(0, 4, grid=1)}).columns[0]
    assert (found.missing + found.unreadable, found.above) == (1, 1)


def test_places_are_shown_only_when_asked() -> None:
    assert check(PEOPLE, DOMAIN).columns[0].rows == ()
    assert check(PEOPLE, DOMAIN, places=2).columns[0].rows == (1, 2)


def test_no_value_is_told() -> None:
    told = json.dumps(check(PEOPLE, DOMAIN, places=5).to_json())
    assert "old" not in told
    assert "200" not in told
    assert "not a release" in told


def test_a_domain_is_needed() -> None:
    with pytest.raises(InvalidArgument, match="domain="):
        check(PEOPLE, {})
