"""One inversion of two weights: of a support, of a symmetric channel and of a general matrix, value and variance."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.channels import ONE, MatrixChannel, Support, SymmetricChannel, matrix, symmetric
from bruit.errors import InvalidArgument

COUNTS = st.lists(st.integers(0, 10**6), min_size=2, max_size=9)
EPSILON = st.fractions(Fraction(1, 10), 8)


@given(COUNTS, EPSILON)
def test_support_inverts_a_symmetric_channel_as_its_matrix_does(counts: list[int], epsilon: Fraction) -> None:
    channel = symmetric(len(counts), epsilon=epsilon)
    closed, general = channel.unmix(counts), MatrixChannel(channel.weights).unmix(counts)
    total = sum(counts)
    near: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-6 * (1 + total) / channel.support.gap**2}
    np.testing.assert_array_equal(closed.value, channel.support.unmix(counts, out_of=total))
    np.testing.assert_array_equal(closed.variance, channel.support.counted_variance(closed.value, out_of=total))
    np.testing.assert_allclose(general.value, closed.value, **near)
    np.testing.assert_allclose(general.variance, closed.variance, **near)
    np.testing.assert_allclose(general.covariance(), closed.covariance(), **near)


@given(st.integers(1, ONE - 1), st.integers(1, ONE - 1), st.integers(0, 10**6), st.integers(1, 10**6))
def test_support_is_the_inversion_of_the_binary_matrix(true: int, false: int, seen: int, unseen: int) -> None:
    """Held or not -> supported or not: [[1 - q, q], [1 - p, p]]."""
    if abs(true - false) < ONE // 100:
        return
    p, q, total = true / ONE, false / ONE, seen + unseen
    support = Support(p, q)
    unmixed = matrix([[1 - Fraction(false, ONE), Fraction(false, ONE)], [1 - Fraction(true, ONE), Fraction(true, ONE)]])
    found = unmixed.unmix([unseen, seen])
    near: dict[str, Any] = {"rel": 1e-6, "abs": 1e-6 * total / support.gap**2}
    assert float(support.unmix(seen / total)) * total == pytest.approx(found.value[1], **near)
    share = support.unmix(seen / total)
    assert float(support.noise_variance(share, total)) * total**2 == pytest.approx(found.variance[1], **near)


@given(EPSILON, st.integers(2, 40), st.floats(0, 1))
def test_what_was_mixed_is_unmixed(epsilon: Fraction, size: int, held: float) -> None:
    support = symmetric(size, epsilon=epsilon).support
    assert float(support.unmix(support.mix(held))) == pytest.approx(held, abs=1e-9)


def test_a_channel_that_keeps_and_changes_alike_has_no_inversion() -> None:
    with pytest.raises(InvalidArgument, match="say nothing"):
        SymmetricChannel(4, ONE // 4, ONE // 4).unmix([1, 2, 3, 4])
