"""Pseudonyms are keyed, stable within a key, and still give people away."""

import hashlib
import hmac
from typing import Any

import polars
import pytest

from bruit.anonymity import draw_pseudonym_key, pseudonymise, risk
from bruit.errors import InvalidArgument

PEOPLE = polars.DataFrame({"name": ["ann", "bob", "ann", None], "age": [30, 40, 30, 50]})
KEY = bytes(range(32))


def test_a_pseudonym_is_the_hmac_of_column_and_value() -> None:
    names = pseudonymise(PEOPLE, ["name"], key=KEY).frame["name"].to_list()
    wanted = hmac.new(KEY, b"4:name:ann", hashlib.sha256).hexdigest()[:32]
    assert names[0] == names[2] == wanted
    assert names[1] not in (wanted, None)
    assert names[3] is None


def test_another_key_gives_other_pseudonyms() -> None:
    assert draw_pseudonym_key() != draw_pseudonym_key()
    one, other = (pseudonymise(PEOPLE, ["name"], key=key).frame["name"][0] for key in (KEY, KEY[::-1]))
    assert one != other


def test_whoever_has_the_key_tries_every_name() -> None:
    hidden = pseudonymise(PEOPLE, ["name"], key=KEY).frame["name"][0]
    tried = polars.DataFrame({"name": ["zoe", "bob", "ann"]})
    assert pseudonymise(tried, ["name"], key=KEY).frame["name"].to_list().index(hidden) == 2


def test_counts_survive_pseudonyms() -> None:
    towns = polars.DataFrame({"town": ["a"] * 5 + ["b"] * 3 + ["c", "d"]})
    found = pseudonymise(towns, ["town"], key=KEY)
    assert found.recognised == {"town": 0.8}
    assert "counts" in found.warning


def test_the_other_columns_give_people_away_as_before() -> None:
    hidden = pseudonymise(PEOPLE, ["name"], key=KEY).frame
    assert risk(hidden, ["age"]).uniques == risk(PEOPLE, ["age"]).uniques


@pytest.mark.parametrize(("columns", "key"), [(["name"], b"short"), ([], KEY), ("name", KEY), (["none"], KEY)])
def test_bad_wishes_are_refused(columns: Any, key: bytes) -> None:
    with pytest.raises(InvalidArgument):
        pseudonymise(PEOPLE, columns, key=key)
