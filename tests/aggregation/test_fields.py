"""Field arithmetic of the kernels against Python's integers, at the edges and between."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.aggregation import _kernels
from bruit.aggregation.fields import FIELD64, FIELD128, PrimeField, integers, pair, pairs

FIELDS = pytest.mark.parametrize("field", [FIELD64, FIELD128], ids=lambda field: field.name)


def edges(field: PrimeField) -> st.SearchStrategy[int]:
    near = [
        0,
        1,
        2,
        2**32 - 1,
        2**32,
        2**64 - 1,
        2**64,
        2**64 + 1,
        field.modulus // 2,
        field.modulus - 2,
        field.modulus - 1,
    ]
    inside = [value for value in near if value < field.modulus]
    return st.sampled_from(inside) | st.integers(0, field.modulus - 1)


def value(words: tuple[np.uint64, np.uint64]) -> int:
    return int(words[0]) | int(words[1]) << 64


@FIELDS
@given(data=st.data())
def test_sum_difference_and_product(field: PrimeField, data: st.DataObject) -> None:
    a, b = (data.draw(edges(field)) for _ in range(2))
    p, left, right = field.words, pair(a), pair(b)
    assert value(_kernels.add(left, right, p)) == (a + b) % field.modulus
    assert value(_kernels.sub(left, right, p)) == (a - b) % field.modulus
    assert value(_kernels.mul(left, pair(field.montgomery(b)), p)) == a * b % field.modulus
    assert value(_kernels.mul(left, right, p)) == a * b * field.inverse(2**128 % field.modulus) % field.modulus


@FIELDS
def test_the_modulus_is_prime_and_its_roots_have_their_order(field: PrimeField) -> None:
    p = field.modulus
    odd, twos = p - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    assert twos == field.two_adicity
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41):  # Miller and Rabin
        x = pow(base, odd, p)
        assert x == 1 or any(pow(x, 2**i, p) == p - 1 for i in range(twos))
    for order in (1, 2, 4, 1024):
        root = field.root(order)
        assert pow(root, order, p) == 1
        assert order == 1 or pow(root, order // 2, p) == p - 1


@FIELDS
@pytest.mark.parametrize("size", [1, 2, 8, 32])
def test_the_transform_evaluates_at_the_powers_of_the_root(field: PrimeField, size: int) -> None:
    rng, p = np.random.default_rng(size), field.modulus
    coefficients = [int.from_bytes(rng.bytes(16), "little") % p for _ in range(size)]
    root = field.root(size)
    roots = pairs([field.montgomery(pow(root, i, p)) for i in range(size)])
    values = pairs(coefficients)
    _kernels.transform(values, roots, 1, field.words)
    expected = [sum(c * pow(root, i * k, p) for k, c in enumerate(coefficients)) % p for i in range(size)]
    assert list(integers(values)) == expected


@FIELDS
@given(data=st.data())
def test_bytes_are_read_back_and_refused_from_the_modulus_on(field: PrimeField, data: st.DataObject) -> None:
    values = data.draw(st.lists(edges(field), max_size=4))
    written = field.encode(values)
    assert field.decode(written) == tuple(values)
    assert field.decode(written + b"x") is None
    too_large = field.modulus.to_bytes(field.size, "little")
    assert field.decode(written + too_large) is None
    out = np.zeros((len(values) + 1, 2), np.uint64)
    read = np.frombuffer(written + too_large, np.uint8).copy()
    assert not _kernels.from_bytes(read, field is FIELD128, field.words, out)
    assert integers(out[:-1]) == tuple(values)


@FIELDS
def test_signs_are_read_from_the_nearer_side_of_zero(field: PrimeField) -> None:
    assert [field.signed(each % field.modulus) for each in (0, 5, -5)] == [0, 5, -5]
