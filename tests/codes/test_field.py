"""Fields of 2^m elements against galois, and polynomials that generate no field."""

import galois
import numpy as np
import pytest

from bruit.codes.block.binary_field import PRIMITIVE, Field, field
from bruit.errors import InvalidArgument


@pytest.mark.parametrize("bits", [2, 3, 4, 7, 8, 11, 16])
def test_products_and_inverses_agree_with_galois(bits: int) -> None:
    ours, theirs = (
        field(bits),
        galois.GF(2**bits, irreducible_poly=PRIMITIVE[bits], primitive_element=2, compile="python-calculate"),
    )
    rng = np.random.default_rng(bits)
    left, right = rng.integers(0, ours.size, (2, 100))
    assert ours.multiply(left, right).tolist() == (theirs(left) * theirs(right)).tolist()
    assert ours.multiply(left, 0).tolist() == [0] * 100
    kept = left[left != 0]
    assert ours.inverse(kept).tolist() == (theirs(kept) ** -1).tolist()
    assert ours.inverse([0, 1]).tolist() == [0, 1]
    polynomial = rng.integers(0, ours.size, 6)
    assert ours.evaluate(polynomial, left).tolist() == galois.Poly(theirs(polynomial))(theirs(left)).tolist()
    assert ours.convolve(polynomial, right[:5]).tolist() == np.convolve(theirs(polynomial), theirs(right[:5])).tolist()


@pytest.mark.parametrize("bits", range(2, 17))
def test_every_listed_polynomial_is_primitive(bits: int) -> None:
    assert galois.Poly.Int(PRIMITIVE[bits]).is_primitive()
    assert np.unique(field(bits).exp[: field(bits).order]).size == 2**bits - 1


def test_a_step_counts_in_powers_of_another_element() -> None:
    stepped = field(8, 0x187, 11)
    plain = field(8, 0x187)
    assert stepped.power(1) == plain.power(11)
    assert stepped.power(-3) == plain.power(-33)
    assert stepped.multiply(77, 130) == plain.multiply(77, 130)


@pytest.mark.parametrize(
    "arguments", [(8, 0x11B, 1), (8, 0x11D, 5), (8, 0x1D, 1), (1, 0x3, 1), (17, 0x20009, 1), (4, 0x1F, 1)]
)
def test_what_generates_no_field_is_refused(arguments: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArgument):
        Field(*arguments)


def test_sizes_without_a_listed_polynomial() -> None:
    with pytest.raises(InvalidArgument):
        field(17)
