"""Verhoeff, Damm, EAN and ISBN: published numbers, stdnum as a live oracle, and what each scheme notices."""

from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
import polars as pl
import pytest
import stdnum.damm
import stdnum.ean
import stdnum.isbn
import stdnum.verhoeff
from hypothesis import given
from hypothesis import strategies as st

from bruit.codes import Damm, Ean, Iban, Isbn, Luhn, Nir, Siren, Siret, Verhoeff
from bruit.codes.check_digits.automata import DAMM_MOVES, VERHOEFF_MOVES, AutomatonDigits
from bruit.errors import InvalidArgument

DIGITS = "0123456789"


@pytest.mark.parametrize(
    ("scheme", "number"),
    [
        (Verhoeff(), "2363"),
        (Verhoeff(), "84736430954837284567892"),
        (Damm(), "5724"),
        (Ean(), "4006381333931"),
        (Ean(8), "73513537"),
        (Ean(12), "036000291452"),
        (Isbn(10), "0-306-40615-2"),
        (Isbn(10), "0-8044-2957-X"),
        (Isbn(), "978-0-306-40615-7"),
    ],
)
def test_published_numbers(scheme: AutomatonDigits, number: str) -> None:
    compact = number.replace("-", "")
    assert scheme.valid(number)
    assert scheme.complete(number[:-1].rstrip("-")) == compact
    for wrong in set(f"{DIGITS}X") - {compact[-1]}:
        assert not scheme.valid(compact[:-1] + wrong)


@given(st.text(DIGITS, min_size=1, max_size=24))
def test_digits_are_those_of_stdnum(number: str) -> None:
    assert Verhoeff().complete(number) == number + stdnum.verhoeff.calc_check_digit(number)
    assert Damm().complete(number) == number + stdnum.damm.calc_check_digit(number)
    if len(number) > 1:
        assert Verhoeff().valid(number) == stdnum.verhoeff.is_valid(number)
        assert Damm().valid(number) == stdnum.damm.is_valid(number)


@given(st.sampled_from([8, 12, 13, 14]), st.data())
def test_articles_and_books_are_those_of_stdnum(size: int, data: Any) -> None:
    number = data.draw(st.text(DIGITS, min_size=size, max_size=size))
    assert Ean(size).valid(number) == stdnum.ean.is_valid(number)
    book = data.draw(st.sampled_from(["978", "979", "977"])) + number.ljust(10, "0")[:10]
    assert Isbn().valid(book) == stdnum.isbn.is_valid(book)
    ten = number.ljust(10, "3")[:9] + data.draw(st.sampled_from([*DIGITS, "X"]))
    assert Isbn(10).valid(ten) == stdnum.isbn.is_valid(ten)


def test_the_tables_are_what_their_names_say() -> None:
    """Verhoeff's is a group; Damm's is a quasigroup in which no two digits can change places."""
    group = VERHOEFF_MOVES[0]
    assert all(group[group[a, b], c] == group[a, group[b, c]] for a, b, c in product(range(10), repeat=3))
    assert sorted(map(sorted, group)) == [list(range(10))] * 10
    damm = DAMM_MOVES[0]
    assert sorted(map(sorted, damm)) == sorted(map(sorted, damm.T)) == [list(range(10))] * 10
    assert not damm.diagonal().any()
    swaps = [(c, x, y) for c, x, y in product(range(10), repeat=3) if x != y]
    assert all(damm[damm[c, x], y] != damm[damm[c, y], x] for c, x, y in swaps)


@pytest.mark.parametrize(
    ("scheme", "missed"), [(Verhoeff(), 0), (Damm(), 0), (Isbn(10), 0), (Ean(13), 10), (Isbn(13), 10)]
)
def test_swaps_of_neighbours_go_unseen_where_it_is_said(scheme: Any, missed: int) -> None:
    """EAN misses the swaps of digits that differ by 5: ten of the ninety ordered pairs."""
    n = scheme.digits or 9
    rng = np.random.default_rng(1)
    words = (scheme if scheme.digits else type(scheme)(n)).encode
    messages = rng.integers(0, 10, (400, n - 1), np.uint8)
    messages[:, :3] = (9, 7, 8)
    unseen = set()
    for word in words(messages):
        for at, (x, y) in enumerate(pairwise(word[3:])):
            swapped = word.copy()
            swapped[[at + 3, at + 4]] = y, x
            if x != y and max(swapped[:-1]) < 10 and scheme.valid("".join(f"{DIGITS}X"[s] for s in swapped)):
                unseen.add((int(x), int(y)))
    assert len(unseen) == missed
    assert all(abs(x - y) == 5 for x, y in unseen)


def test_columns_keep_their_kind() -> None:
    numbers = ["080442957X", "0306406152", "0306406153", "x", None]
    assert Isbn(10).valid(numbers) == [True, True, False, False, False]
    assert Isbn(10).complete(["080442957", "03064061"]) == ["080442957X", None]
    series = Isbn(10).complete(pl.Series("isbn", ["080442957", "030640615", None, "1"]))
    assert series.to_list() == ["080442957X", "0306406152", None, None]
    rows = np.frombuffer(b"080442957030640615", np.uint8).reshape(2, 9)
    assert Isbn(10).complete(rows).tobytes() == b"080442957X0306406152"
    assert Ean().complete(pl.Series(["400638133393"])).to_list() == ["4006381333931"]


@pytest.mark.parametrize(
    "scheme", [Luhn(), Siren(), Siret(), Nir(), Iban(), Verhoeff(), Damm(), Ean(), Isbn(10), Isbn()], ids=str
)
def test_nothing_is_no_number(scheme: Any) -> None:
    """An empty text and a missing value have no digit that could be right, nor has a digit alone."""
    assert scheme.valid(["", None, " -.", "0"]) == [False] * 4
    assert scheme.valid("") is False
    assert scheme.valid(np.array([b"", b"-"])).tolist() == [False, False]
    assert scheme.valid(pl.Series(["", None])).to_list() == [False, None]
    assert scheme.complete(["", None]) == [None, None]


@pytest.mark.parametrize("wrong", [lambda: Ean(9), lambda: Isbn(12), lambda: Isbn().complete("977030640615")])
def test_what_is_no_such_number_is_refused(wrong: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        wrong()
