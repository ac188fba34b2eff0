"""Check digits: the examples of S1.3, stdnum as a live oracle, every kind of column, what each scheme misses."""

from fractions import Fraction
from typing import Any, Never

import numpy as np
import polars as pl
import pytest
import stdnum.fr.nir
import stdnum.fr.siren
import stdnum.fr.siret
import stdnum.iban
import stdnum.luhn
from hypothesis import given
from hypothesis import strategies as st

from bruit.codes import Iban, Luhn, Nir, Siren, Siret
from bruit.codes.check_digits.algorithms import SEPARATORS
from bruit.codes.check_digits.column import column
from bruit.codes.check_digits.iban import FORMS
from bruit.errors import InvalidArgument

DIGITS = st.text("0123456789", min_size=2, max_size=24)


def random_digits(rng: np.random.Generator, rows: int, width: int) -> np.ndarray:
    return rng.integers(48, 58, (rows, width), dtype=np.uint8)


def texts(matrix: np.ndarray) -> list[str]:
    return [row.tobytes().decode() for row in matrix]


def test_the_lecture_s_luhn_numbers() -> None:
    assert Luhn().valid("972-487-086")
    assert not Luhn().valid("927-487-086")
    assert Luhn().complete("972-487-08") == "972487086"
    assert Luhn(16).rate == Fraction(15, 16)
    assert Nir().rate == Fraction(13, 15)


def test_doubled_nine_counts_nine() -> None:
    assert Luhn().valid("91")  # 9 doubled is 18, 18 − 9 = 9, and 9 + 1 ends in 0
    assert not Luhn().valid("90")


@given(DIGITS)
def test_luhn_agrees_with_stdnum(number: str) -> None:
    assert Luhn().valid(number) == stdnum.luhn.is_valid(number)
    completed = number + stdnum.luhn.calc_check_digit(number)
    assert Luhn().complete(number) == completed
    assert Luhn().valid(completed)


@pytest.mark.parametrize("width", [2, 7, 8, 9, 13, 14, 15, 16, 17, 19])
def test_luhn_columns_of_every_width_agree_with_stdnum(width: int) -> None:
    matrix = random_digits(np.random.default_rng(width), 2000, width)
    expected = [stdnum.luhn.is_valid(number) for number in texts(matrix)]
    assert Luhn().valid(matrix).tolist() == expected
    assert Luhn(width).valid(matrix).tolist() == expected
    assert not Luhn(width + 1).valid(matrix).any()
    assert sum(expected) > 100


@given(st.text("0123456789", min_size=2, max_size=18), st.data())
def test_luhn_notices_every_wrong_digit_and_every_swap_but_09(number: str, data: Any) -> None:
    whole = Luhn().complete(number)
    place = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != whole[place]]))
    assert not Luhn().valid(whole[:place] + other + whole[place + 1 :])
    place = data.draw(st.integers(0, len(whole) - 2))
    left, right = whole[place], whole[place + 1]
    swapped = whole[:place] + right + left + whole[place + 2 :]
    assert Luhn().valid(swapped) == (left == right or {left, right} == {"0", "9"})


def test_siren_and_siret_agree_with_stdnum() -> None:
    rng = np.random.default_rng(1)
    sirens = texts(random_digits(rng, 3000, 9))
    assert Siren().valid(sirens) == [stdnum.fr.siren.is_valid(number) for number in sirens]
    right = Siren().complete([number[:8] for number in sirens])
    sirets = [siren + ending for siren, ending in zip(right, texts(random_digits(rng, 3000, 5)), strict=True)]
    verdicts = Siret().valid(sirets)
    assert verdicts == [stdnum.fr.siret.is_valid(number) for number in sirets]
    assert 200 < sum(verdicts) < 400
    completed = Siret().complete([number[:13] for number in sirets])
    assert all(stdnum.fr.siret.is_valid(number) for number in completed)


def test_la_poste_has_a_rule_of_its_own() -> None:
    rng = np.random.default_rng(2)
    numbers: list[Any] = ["356000000" + ending for ending in texts(random_digits(rng, 2000, 5))] + ["35600000000048"]
    verdicts = Siret().valid(numbers)
    assert verdicts == [stdnum.fr.siret.is_valid(number) for number in numbers]
    assert verdicts[-1]
    assert not Siren().valid("356000001")
    assert Siret().complete("3560000000004") == "35600000000048"
    completed = Siret().complete([number[:13] for number in numbers[:-1]])
    assert all(stdnum.fr.siret.is_valid(number) for number in completed)


def test_a_siret_on_a_wrong_siren_is_wrong_and_cannot_be_completed() -> None:
    assert not Siret().valid("73282932100073")
    with pytest.raises(InvalidArgument, match="cannot complete"):
        Siret().complete("7328293210007")


def test_nir_agrees_with_stdnum_corsica_included() -> None:
    rng = np.random.default_rng(3)
    payload = random_digits(rng, 3000, 13)
    payload[::3, 5] = ord("2")
    payload[::3, 6] = rng.integers(ord("A"), ord("D"), 1000, dtype=np.uint8)
    numbers = texts(payload)
    readable = [number[6] not in "C" for number in numbers]
    completed = Nir().complete(numbers)
    assert [number is not None for number in completed] == readable
    assert all(stdnum.fr.nir.is_valid(number) for number in completed if number)
    others = [number[:13] + f"{key:02d}" for number, key in zip(numbers, rng.integers(0, 100, 3000), strict=True)]
    assert Nir().valid(others) == [stdnum.fr.nir.is_valid(number) for number in others]
    assert Nir().valid("2 53 07 2b 073 004 70")
    assert Nir().valid("253072A07300443")
    assert not Nir().valid("253071A07300443")


def test_the_key_of_the_french_number_is_what_is_missing_to_97() -> None:
    assert Nir().complete("2951099126111") == "295109912611193"
    assert 97 - 2951099126111 % 97 == 93


@given(st.text("0123456789", min_size=13, max_size=13), st.integers(0, 14), st.integers(1, 9))
def test_nir_notices_every_wrong_digit(number: str, place: int, shift: int) -> None:
    whole = Nir().complete(number)
    wrong = str((int(whole[place]) + shift) % 10)
    assert not Nir().valid(whole[:place] + wrong + whole[place + 1 :])


@pytest.mark.parametrize("country", sorted(FORMS))
def test_iban_forms_and_keys_agree_with_stdnum(country: str) -> None:
    rng = np.random.default_rng(4)
    letters = {"n": "0123456789", "a": "ABCXYZ", "c": "019AZ"}
    accounts = ["".join(str(rng.choice(list(letters[kind]))) for kind in FORMS[country]) for _ in range(20)]
    completed = Iban().complete([country + account for account in accounts])
    assert all(stdnum.iban.is_valid(number, check_country=False) for number in completed)
    assert Iban(country).valid(completed) == [True] * 20
    altered = [number[:2] + f"{(int(number[2:4]) + 31) % 97 + 2:02d}" + number[4:] for number in completed]
    longer = [number + "0" for number in completed]
    for wrong in (altered, longer):
        assert Iban().valid(wrong) == [stdnum.iban.is_valid(number, check_country=False) for number in wrong]


def test_iban_knows_every_country_that_stdnum_knows() -> None:
    import stdnum.numdb

    listed = {prefix for _, prefix, _, _, _ in stdnum.numdb.get("iban").prefixes}
    assert listed == set(FORMS)


def test_iban_key_that_no_bank_issues_is_refused() -> None:
    number = Iban().complete("FR" + "20041010050500013M02606")
    assert number == "FR1420041010050500013M02606"
    aliases = 0
    for account in range(300):
        whole = Iban().complete(f"DE{account:018d}")
        key = int(whole[2:4])
        for alias in (key - 97, key + 97):
            if 0 <= alias <= 99:
                aliases += 1
                assert stdnum.iban.is_valid(f"DE{alias:02d}{whole[4:]}")
                assert not Iban().valid(f"DE{alias:02d}{whole[4:]}")
    assert aliases > 3


def test_iban_of_another_country_is_not_this_country_s() -> None:
    assert Iban().valid("FR14 2004 1010 0505 0001 3M02 606")
    assert Iban("FR").valid("fr14 2004 1010 0505 0001 3m02 606")
    assert not Iban("DE").valid("FR14 2004 1010 0505 0001 3M02 606")
    assert not Iban().valid("ZZ14 2004 1010 0505 0001 3M02 606")
    assert Iban("FR").rate == Fraction(25, 27)


KINDS: dict[str, Any] = {
    "list": list,
    "tuple": tuple,
    "bytes": lambda values: np.array([value.encode() for value in values]),
    "text": lambda values: np.array(values),
    "objects": lambda values: np.array(values, object),
    "series": lambda values: pl.Series("n", values),
    "chunks": lambda values: pl.concat([pl.Series("n", values[:2]), pl.Series("n", values[2:])], rechunk=False),
    "slice": lambda values: pl.Series("n", ["1234", *values])[1:],
    "categories": lambda values: pl.Series("n", values, dtype=pl.Categorical),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_gives_the_same_answers(kind: Any) -> None:
    numbers: list[Any] = ["972-487-086", "972487086", "927487086", "97248708x", "18", ""]
    assert list(Luhn().valid(KINDS[kind](numbers))) == [True, True, False, False, True, False]
    completed = list(Luhn().complete(KINDS[kind](["972-487-08", "1", "x"])))
    missing = completed[2]
    assert [text.decode() if isinstance(text, bytes) else text for text in completed[:2]] == ["972487086", "18"]
    assert missing in (None, "", b"")


def test_missing_values_stay_missing() -> None:
    values = pl.Series("n", ["18", None, "17"])
    assert Luhn().valid(values).to_list() == [True, None, False]
    assert Luhn().complete(values).to_list() == ["182", None, "174"]
    assert Luhn().valid(["18", None]) == [True, False]
    assert Luhn().complete(["1", None]) == ["18", None]
    assert Luhn().valid(pl.Series("n", [None, None], dtype=pl.String)).to_list() == [None, None]


def test_a_matrix_of_characters_is_completed_as_one() -> None:
    matrix = random_digits(np.random.default_rng(5), 50, 13)
    matrix[7, 3] = ord("x")
    completed = Nir().complete(matrix)
    assert completed.dtype == np.uint8
    assert Nir().valid(completed).tolist() == [row != 7 for row in range(50)]
    assert not completed[7].any()
    codes = Iban().complete(np.frombuffer(b"BE435411161155", np.uint8).reshape(1, -1))
    assert codes.tobytes() == b"BE31435411161155"


def test_series_without_pyarrow_are_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> Never:
        raise ModuleNotFoundError("pyarrow")

    numbers = pl.Series("n", ["972-487-086", None, "18", "19", ""])
    expected = Luhn().valid(numbers).to_list()
    monkeypatch.setattr(pl.Series, "to_arrow", missing)
    assert Luhn().valid(numbers).to_list() == expected == [True, None, True, False, False]
    assert Luhn().valid(pl.Series("n", [], dtype=pl.String)).to_list() == []


def test_empty_columns_have_no_answers() -> None:
    for empty in ([], np.array([], "S9"), pl.Series("n", [], dtype=pl.String)):  # type: ignore[var-annotated]
        assert list(Luhn().valid(empty)) == []
        assert list(Luhn().complete(empty)) == []


@pytest.mark.parametrize("values", [18, [18], 1.5, np.arange(4), pl.Series([1, 2]), np.zeros(3, np.uint8)])
def test_what_is_no_text_is_refused(values: Any) -> None:
    with pytest.raises(InvalidArgument):
        column(values)


def test_schemes_that_cannot_be() -> None:
    with pytest.raises(InvalidArgument):
        Luhn(1)
    with pytest.raises(InvalidArgument):
        Iban("XX")
    for scheme in (Luhn(), Iban()):
        with pytest.raises(InvalidArgument, match="depends on"):
            _ = scheme.rate
    with pytest.raises(InvalidArgument, match="cannot complete"):
        Nir().complete("12")


@pytest.mark.parametrize(("scheme", "digits"), [(Luhn(4), 4), (Luhn(5), 5)])
def test_the_chance_of_a_random_number_is_counted_exactly(scheme: Luhn, digits: int) -> None:
    numbers: list[Any] = [f"{number:0{digits}d}" for number in range(10**digits)]
    assert Fraction(int(np.sum(scheme.valid(numbers))), 10**digits) == scheme.chance


def test_the_chance_of_random_check_digits_is_counted_exactly() -> None:
    rng = np.random.default_rng(6)
    payload = texts(random_digits(rng, 1, 13))[0]
    assert sum(Nir().valid([f"{payload}{key:02d}" for key in range(100)])) == 100 * Nir().chance
    account = "DE{:02d}" + texts(random_digits(rng, 1, 18))[0]
    assert sum(Iban().valid([account.format(key) for key in range(100)])) == 100 * Iban().chance
    la_poste = sum(Siret().valid([f"356000000{ending:05d}" for ending in range(10**5)]))
    other = sum(Siret().valid([f"732829320{ending:05d}" for ending in range(10**5)]))
    assert Siret().chance == Fraction((10**8 - 1) * other + la_poste, 10**14)


@given(st.lists(st.text(max_size=40) | st.text("0123456789AB -.FRDE", max_size=40), max_size=8))
def test_rule_2_no_error_depends_on_values(values: list[str]) -> None:
    schemes = [(Luhn(), stdnum.luhn), (Siren(), stdnum.fr.siren), (Siret(), stdnum.fr.siret), (Nir(), stdnum.fr.nir)]
    for scheme, peer in [*schemes, (Iban(), stdnum.iban)]:
        verdicts, completed = scheme.valid(values), scheme.complete(values)
        assert verdicts == scheme.valid(pl.Series("n", values, dtype=pl.String)).to_list()
        assert completed == scheme.complete(pl.Series("n", values, dtype=pl.String)).to_list()
        assert all(scheme.valid([text for text in completed if text is not None]))
        assert all(
            peer.is_valid(text.translate(SEPARATORS)) for text, good in zip(values, verdicts, strict=True) if good
        )


@given(st.sampled_from(["FR20041010050500013M02606", "DE370400440532013000", "NLABNA0417164300"]), st.data())
def test_iban_notices_every_wrong_character_of_the_same_kind(payload: str, data: Any) -> None:
    whole = Iban().complete(payload)
    place = data.draw(st.integers(2, len(whole) - 1))
    kind = "0123456789" if whole[place].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    other = data.draw(st.sampled_from([letter for letter in kind if letter != whole[place]]))
    assert not Iban().valid(whole[:place] + other + whole[place + 1 :])
