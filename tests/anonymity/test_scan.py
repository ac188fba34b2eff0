"""Identifiers are found by a test against chance, and random digits are not."""

import json
from typing import Any

import numpy as np
import polars
import pytest

from bruit.anonymity import scan
from bruit.codes import Iban, Luhn, Nir, Siren, Siret
from bruit.errors import InvalidArgument

ROWS = 400
RNG = np.random.default_rng(10)


def digits(width: Any, rng: Any = RNG) -> Any:
    return ["".join(map(str, row)) for row in rng.integers(0, 10, (ROWS, width))]


def letters(width: Any) -> Any:
    return ["".join(row) for row in RNG.choice(list("abcdefgh"), (ROWS, width))]


def born(years: Any) -> Any:
    days = np.datetime64("1940-01-01") + RNG.integers(0, 365 * years, ROWS)
    return [str(day) for day in days]


KINDS = {
    "card number": Luhn().complete(["4" + text for text in digits(14)]),
    "IBAN": Iban().complete(["FR" + text for text in digits(23)]),
    "SIREN": Siren().complete(digits(8)),
    "SIRET": Siret().complete(
        [siren + tail for siren, tail in zip(Siren().complete(digits(8)), digits(4), strict=True)]
    ),
    "NIR": Nir().complete(["1" + text for text in digits(12)]),
    "phone number": [f"0{1 + int(text[0]) % 9}{text[1:]}" for text in digits(9)],
    "date of birth": born(60),
    "e-mail address": [f"{name}@example.org" for name in letters(8)],
    "IP address": [".".join(map(str, row)) for row in RNG.integers(0, 256, (ROWS, 4))],
    "free text": [" ".join(["spoke", "to", *letters(4)[:1], "about", "work", str(row)]) for row in range(ROWS)],
    "key": list(range(1000, 1000 + ROWS)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_found(kind: str) -> None:
    found = scan(polars.DataFrame({"x": KINDS[kind], "y": [row % 7 for row in range(ROWS)]}))
    assert kind in [one.kind for one in found.identifiers if one.column == "x"]
    first = next(one for one in found.identifiers if one.kind == kind)
    assert first.share > 0.9
    assert first.p_value < 1e-6
    assert "y" not in found.direct


@pytest.mark.parametrize("width", [9, 10, 14, 15, 16])
def test_random_digits_are_only_a_key(width: int) -> None:
    numbers = ["4" + text for text in digits(width - 1)]
    assert {one.kind for one in scan(polars.DataFrame({"x": numbers})).identifiers} <= {"key"}


def test_one_valid_number_repeated_is_no_evidence() -> None:
    found = scan(polars.DataFrame({"x": ["4111111111111111"] * ROWS}))
    assert found.identifiers == ()


def test_recent_dates_are_not_dates_of_birth() -> None:
    assert "date of birth" not in [one.kind for one in scan(polars.DataFrame({"x": born(5)})).identifiers]


def test_a_few_addresses_among_other_texts_are_found() -> None:
    notes = [f"see {name}@example.org" if row % 20 == 0 else name for row, name in enumerate(letters(8))]
    found = [one for one in scan(polars.DataFrame({"x": notes})).identifiers if one.kind == "e-mail address"]
    assert found[0].share == pytest.approx(0.05, abs=0.01)


def test_separators_do_not_hide_an_identifier() -> None:
    spaced = [f"{card[:4]} {card[4:8]} {card[8:12]} {card[12:]}" for card in KINDS["card number"]]
    assert "card number" in [one.kind for one in scan(polars.DataFrame({"x": spaced})).identifiers]


def test_the_smallest_singling_set_is_found() -> None:
    rng = np.random.default_rng(3)
    frame = polars.DataFrame(
        {"a": np.arange(900) // 30, "b": np.arange(900) % 30, "c": rng.integers(0, 3, 900), "d": ["same"] * 900}
    )
    found = scan(frame).singling
    assert found[0].columns in {("a", "b"), ("b", "a")}
    assert (found[0].uniques, found[0].share) == (900, 1.0)
    assert len(found) == 1


def test_no_set_is_reported_where_none_singles_out_enough() -> None:
    assert scan(polars.DataFrame({"a": [1, 1, 2, 2] * 50, "b": [1, 2, 1, 2] * 50})).singling == ()


def test_nothing_of_the_table_is_told() -> None:
    told = json.dumps(scan(polars.DataFrame({"x": KINDS["NIR"]})).to_json())
    assert not any(value in told for value in KINDS["NIR"])
    assert "not a release" in told


@pytest.mark.parametrize("bad", [{"alarm": 0}, {"share": 2}, {"most": 9}])
def test_bad_questions_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument):
        scan(polars.DataFrame({"x": [1]}), **bad)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no rows"):
        scan(polars.DataFrame({"x": []}))
