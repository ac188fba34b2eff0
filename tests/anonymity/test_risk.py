"""What a table gives away: the worked example, pycanon's values, and the rules."""

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from laws import binomial_window

from bruit import tables
from bruit.anonymity import NOT_A_RELEASE, risk
from bruit.apps.data import adult
from bruit.errors import InvalidArgument, MissingData
from bruit.privacy import EACH_ROW

PATIENTS = polars.DataFrame(
    {
        "postcode": ["130**", "130**", "148**", "148**", "149**", "149**"],
        "illness": ["cancer", "cancer", "flu", "angina", "flu", "asthma"],
    }
)


def census() -> Any:
    try:
        return adult()
    except MissingData as reason:
        pytest.skip(str(reason))


def test_s2_1_six_patients() -> None:
    found = risk(PATIENTS, ["postcode"], "illness")
    illness = found["illness"]
    assert (found.k, illness.l) == (2, 1)
    assert illness.t == pytest.approx(2 / 3)
    assert sorted(illness.distances) == pytest.approx([1 / 2, 1 / 2, 2 / 3])
    assert illness.certain == 2
    assert illness.impossible == 3 + 2 + 2
    assert illness.guessed == pytest.approx(4 / 6)
    assert illness.guessed_blindly == pytest.approx(2 / 6)
    assert found.linkage.expected == pytest.approx(3 / 6)


@pytest.mark.parametrize("case", json.loads((Path(__file__).parent / "vectors" / "pycanon.json").read_text()))
def test_pycanon_says_the_same(case: dict[str, Any]) -> None:
    found = risk(census().head(case["rows"]), case["quasi"], case["sensitive"])
    secret = found[case["sensitive"]]
    assert found.k == case["k"]
    assert secret.l == case["l"]
    assert int(secret.entropy_l + 1e-9) == case["entropy_l"]
    assert secret.t == pytest.approx(case["t"], abs=1e-9)


def test_adults_alone_on_six_columns_are_those_that_polars_counts() -> None:
    quasi = ["age", "workclass", "education", "occupation", "race", "native-country"]
    frame = census()
    sizes = frame.group_by(quasi).len()["len"]
    found = risk(frame, quasi)
    assert (found.groups, found.k, found.uniques) == (len(sizes), sizes.min(), (sizes == 1).sum())


def test_texts_numbers_and_any_engine_give_the_same() -> None:
    frame = polars.DataFrame({"age": [30, 30, 40, 41], "sex": ["m", "m", "f", "f"], "pay": [1, 2, 3, 3]})
    texts = frame.cast(polars.String)
    wanted = risk(frame, ["age", "sex"], "pay", rng=np.random.default_rng(1))
    assert wanted["pay"].kind == "ordered"
    for other in (texts, frame.to_pandas(), tables.read(texts, person=EACH_ROW)):
        assert risk(other, ["age", "sex"], "pay", rng=np.random.default_rng(1)) == wanted


def test_a_missing_value_is_a_value_of_its_own() -> None:
    frame = polars.DataFrame({"age": [30, None, None], "pay": ["a", "a", "b"]})
    found = risk(frame, ["age"], "pay")
    assert (found.k, found.uniques, found.groups) == (1, 1, 2)


def test_the_attacker_succeeds_as_often_as_expected() -> None:
    rng = np.random.default_rng(1)
    frame = polars.DataFrame({"q": rng.integers(0, 1000, 4000)})
    found = risk(frame, ["q"], known=0.5, rng=rng)
    low, high = binomial_window(found.linkage.known, found.linkage.expected, 1e-9)
    assert low <= found.linkage.right <= high
    assert found.linkage.certain <= found.uniques


def test_several_sensitive_columns_stand_beside_each_other() -> None:
    frame = PATIENTS.with_columns(pay=polars.Series([1, 2, 3, 4, 5, 6]))
    found = risk(frame, ["postcode"], ["illness", "pay"], kinds={"pay": "numeric"})
    assert [one.kind for one in found.sensitive] == ["categorical", "numeric"]
    assert found["pay"].l == 2
    with pytest.raises(InvalidArgument, match="sensitive"):
        found["postcode"]


def test_every_output_says_that_it_is_no_release_and_shows_no_value() -> None:
    told = json.dumps(risk(PATIENTS, ["postcode"], "illness").to_json())
    assert NOT_A_RELEASE in told
    for value in [*PATIENTS["postcode"], *PATIENTS["illness"]]:
        assert value not in told
        assert value not in repr(risk(PATIENTS, ["postcode"], "illness"))


@pytest.mark.parametrize(
    ("quasi", "sensitive", "more", "message"),
    [
        ([], "illness", {}, "at least one column"),
        ("postcode", "illness", {}, "at least one column"),
        (["postcode"], "postcode", {}, "not both"),
        (["nothing"], "illness", {}, "no column nothing"),
        (["postcode"], "illness", {"kinds": {"illness": "odd"}}, "categorical"),
        (["postcode"], "illness", {"known": 0}, "share"),
    ],
)
def test_bad_questions_are_refused(quasi: Any, sensitive: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        risk(PATIENTS, quasi, sensitive, **more)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no rows"):
        risk(PATIENTS.head(0), ["postcode"])


def test_people_are_counted_where_the_table_says_whose_row_it_is() -> None:
    """By hand: of a, b and c only c is alone on its postcode, although six rows share two postcodes."""
    visits = polars.DataFrame(
        {
            "id": ["a", "a", "b", "c", "c", "c", None],
            "postcode": ["1", "1", "1", "2", "2", "2", "3"],
            "illness": ["flu", "flu", "angina", "flu", "flu", "asthma", "flu"],
        }
    )
    rows = risk(visits, ["postcode"], "illness")
    people = risk(tables.read(visits, person="id"), ["postcode"], "illness")
    assert (rows.rows, rows.k, rows.uniques) == (7, 1, 1)
    assert (people.rows, people.groups, people.k, people.uniques) == (3, 2, 1, 1)
    assert (people["illness"].l, people["illness"].certain) == (2, 0)
    assert people["illness"].guessed_blindly == 0.5  # of a flu, b angina, c flu and asthma


def test_the_person_is_no_quasi_identifier() -> None:
    table = tables.read(polars.DataFrame({"id": ["a"], "age": [1]}), person="id")
    with pytest.raises(InvalidArgument, match="says who the person is"):
        risk(table, ["id", "age"])


TYPES: dict[str, polars.Series] = {
    "beyond 63 bits": polars.Series([2**63 + 1, 2**63 + 5, None, 2**63 + 5], dtype=polars.UInt64),
    "128 bits": polars.Series([1, 2, None, 2], dtype=polars.Int128),
    "beyond 127 bits": polars.Series([2**100, 2, None, 2], dtype=polars.Int128),
    "decimals": polars.Series([Decimal("1.5"), Decimal("2.25"), None, Decimal("2.250")]),
    "lists": polars.Series([[1], [1, 2], None, [1, 2]]),
    "structs": polars.Series([{"x": 1}, {"x": 2}, None, {"x": 2}]),
    "bytes": polars.Series([b"\xff", b"x", None, b"x"]),
    "times between": polars.Series([timedelta(1), timedelta(2), None, timedelta(2)]),
    "nothing": polars.Series([None] * 4),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("place", ["quasi-identifier", "sensitive"])
def test_a_column_of_any_type_is_measured(kind: str, place: str) -> None:
    """Those of the rarer types failed with an error of the engine."""
    values, groups = TYPES[kind], 1 if kind == "nothing" else 3
    frame = polars.DataFrame({"rare": values, "plain": ["a"] * 4})
    if place == "sensitive":
        found = risk(frame, ["plain"], "rare")
        assert (found.k, found["rare"].l) == (4, groups)
    else:
        found = risk(frame, ["rare"], "plain")
        assert (found.groups, found.k) == (groups, 4 if groups == 1 else 1)


def test_numbers_without_end_have_no_distances() -> None:
    frame = polars.DataFrame({"s": [1.0, float("inf"), 2.0], "a": ["p", "q", "p"]})
    with pytest.raises(InvalidArgument, match="needs finite numbers without missing values"):
        risk(frame, ["a"], "s", kinds={"s": "numeric"})
