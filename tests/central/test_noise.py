from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.central.noise import bought_noise, half_width
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, DiscreteGaussian, DiscreteLaplace


@given(st.fractions(Fraction(1, 10), 50), st.floats(0.01, 0.999))
def test_laplace_half_width_is_the_least_that_covers(scale, confidence):
    width = half_width(DiscreteLaplace(scale, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE), confidence)
    base = np.exp(-1 / float(scale))

    def inside(reach):
        return 1 - 2 * base ** (reach + 1) / (1 + base)

    assert inside(width) >= confidence - 1e-9
    assert width == 0 or inside(width - 1) < confidence + 1e-9


@given(st.fractions(Fraction(1, 4), 400), st.floats(0.01, 0.999))
def test_gaussian_half_width_is_the_least_that_covers(variance, confidence):
    loss = DiscreteGaussian(variance, squared_sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)
    width = half_width(loss, confidence)
    places = np.arange(-2000, 2001)
    mass = np.exp(-0.5 * places**2 / float(variance))
    mass /= mass.sum()
    assert mass[np.abs(places) <= width].sum() >= confidence - 1e-9
    assert width == 0 or mass[np.abs(places) <= width - 1].sum() < confidence + 1e-9


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 95.0, float("nan")])
def test_an_absurd_confidence_is_refused(confidence):
    with pytest.raises(InvalidArgument, match="confidence"):
        half_width(DiscreteLaplace(1, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE), confidence)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 200))
def test_a_gaussian_price_pays_only_for_what_it_was_stated_for(each, entries, squared):
    """One person who moves `entries` numbers by `each` moves them by entries * each^2 in squared l2."""
    book = Ledger("rows", epsilon=100, delta="0.1", neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW, by="zcdp")
    loss = DiscreteGaussian(100, squared_sensitivity=squared, entries=entries, neighbours=ADD_OR_REMOVE_ONE)
    if squared >= entries * each**2:
        assert bought_noise(book.budget(loss), each=each, entries=entries) == loss
    else:
        with pytest.raises(NotPrivate, match="cannot pay"):
            bought_noise(book.budget(loss), each=each, entries=entries)
