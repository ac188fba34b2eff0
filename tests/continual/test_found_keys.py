"""Keys that nobody listed: what shows, in which order, and how seldom a single person's key does."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars
import pytest
from continual.conftest import plan_for
from laws import binomial_window

from bruit.continual import Contribution, Keys, Stream, at_most, once
from bruit.continual.noise.buffers import empty, published, step
from bruit.continual.noise.found_keys import past_buffers, threshold
from bruit.errors import BudgetExceeded, InvalidArgument, NotPrivate
from bruit.ledger import Ledger
from bruit.privacy import zcdp
from bruit.tables import read


def stream(ledger: Any, name: str = "words", **changed: Any) -> Any:
    asked = {"participation": once(), "periods": 16}
    if "budget" not in changed:
        asked["budget"] = ledger.budget(epsilon=20, delta="1e-6")
    return Stream(name, Keys("word", rows=1), **(asked | changed))


def words(first: int, **counts: int) -> Any:
    said = [word for word, number in counts.items() for _ in range(number)]
    return read(polars.DataFrame({"id": range(first, first + len(said)), "word": said}), person="id")


def test_large_keys_show_and_small_ones_do_not(book: Callable[..., Ledger]) -> None:
    found = stream(book())
    release = found.update(words(0, often=500, twice=2))
    assert release.labels == ("often",)
    assert abs(release.value[0] - 500) < 20
    assert release.interval is None  # given that a key shows, its noise is high
    assert release.noise > 0
    assert release.details["threshold"] == found.terms.threshold


def test_the_order_is_that_of_the_keys_not_of_their_arrival(book: Callable[..., Ledger]) -> None:
    found = stream(book())
    found.update(words(0, zebra=500))
    release = found.update(words(1000, ant=500))
    assert release.labels == ("ant", "zebra")
    assert found.change(1, 2).labels == ("zebra",)
    assert found.update(words(3000), period=1).labels == ("zebra",)


def test_a_key_that_showed_stays_shown(book: Callable[..., Ledger]) -> None:
    found = stream(book())
    labels = [found.update(words(1000 * period, often=500 if period == 0 else 0)).labels for period in range(6)]
    assert labels == [("often",)] * 6


def test_the_delta_of_keys_is_in_the_price(book: Callable[..., Ledger]) -> None:
    ledger = book()
    found = stream(ledger)
    [entry] = ledger.entries
    kinds = [type(loss).__name__ for loss, _ in entry.loss.parts()]
    assert kinds == ["NormalShift", "Approximate"]
    assert found.terms.keys_delta > 0
    assert entry.guarantee.delta == found.guarantee.delta
    with pytest.raises(NotPrivate, match="basic"):
        stream(book("zcdp", by="zcdp"))


def test_a_zcdp_book_pays_for_keys_from_the_delta_that_it_set_aside(book: Callable[..., Ledger]) -> None:
    ledger = book("zcdp", epsilon=30, delta="1e-5", by="zcdp", failures="1e-6")
    found = stream(ledger, budget=ledger.budget(epsilon=20, delta="1e-5"))
    assert found.update(words(0, often=500, twice=2)).labels == ("often",)
    [entry] = ledger.entries
    assert found.terms.keys_delta == Fraction("1e-6")  # all that was set aside, less than half of the budget's
    assert ledger.book.spent().exact == (pytest.approx(zcdp(entry.loss)), Fraction("1e-6"))
    assert float(ledger.spent.total) == pytest.approx(float(found.terms.plan.squared_shift) / 2)
    with pytest.raises(BudgetExceeded):  # no δ is left, though much ρ is
        stream(ledger, budget=ledger.budget(epsilon=1, delta="1e-5"), participation=at_most(2), name="more")


def test_keys_take_no_corrections() -> None:
    with pytest.raises(InvalidArgument, match="corrections"):
        Keys("word", rows=1, corrections="change")


@pytest.mark.parametrize("times", [1, 4])
def test_a_key_of_one_person_shows_no_more_often_than_was_paid_for(times: int) -> None:
    """Streams of one lone key each, on the real lattice, at a δ that can be seen."""
    plan = plan_for(32, participation=at_most(times, apart=4), cells=None)
    least, cells, delta = threshold(plan, 0.2), 4000, 0.2
    buffers, shown = empty(plan.factor, cells), np.zeros(cells, bool)
    rng = np.random.default_rng(times)
    for period in range(32):
        fresh = np.rint(rng.normal(0, plan.lattice.sigma, cells)).astype(np.int64)
        buffers, noise = step(plan.factor, plan.lattice.spare, buffers, fresh)
        total = np.full(cells, min(times, 1 + period // 4))
        shown |= published(total, noise, plan.unit) >= least
    assert shown.sum() <= binomial_window(cells, delta / times, 1e-9)[1]
    assert shown.any()  # the threshold is no higher than it has to be


def test_the_noise_of_a_new_key_began_with_the_stream() -> None:
    plan, rng = plan_for(32, cells=None), np.random.default_rng(2)
    late = past_buffers(plan, 20, 3000, rng)
    always = empty(plan.factor, 3000)
    for _ in range(20):
        fresh = np.rint(rng.normal(0, plan.lattice.sigma, 3000)).astype(np.int64)
        always, _ = step(plan.factor, plan.lattice.spare, always, fresh)
    for one, other in zip(late, always, strict=True):
        ratio = float(np.var(one.astype(float)) / np.var(other.astype(float)))
        assert 0.8 < ratio < 1.25  # six deviations of a ratio of two variances of 3000 draws


def test_noise_that_is_too_coarse_for_a_threshold_is_refused() -> None:
    plan = plan_for(1024, shift=1e-3, cells=None, contribution=Contribution(1, 1, 1, signed=False))
    with pytest.raises(NotPrivate, match="coarse"):
        threshold(replace(plan, unit=10), 0.1)
    with pytest.raises(NotPrivate, match="too small"):
        threshold(plan, 1e-70)


def test_a_shown_key_is_too_large_at_first() -> None:
    """Why there is no interval: a key below the threshold shows when its noise is high, and only then."""
    plan = plan_for(16, cells=None)
    least, cells, rng = threshold(plan, 0.5), 4000, np.random.default_rng(4)
    true, width = least - 12, 20
    fresh = np.rint(rng.normal(0, plan.lattice.sigma, cells)).astype(np.int64)
    values = published(
        np.full(cells, true), step(plan.factor, plan.lattice.spare, empty(plan.factor, cells), fresh)[1], plan.unit
    )
    first = values[values >= least]
    assert (np.abs(values - true) <= width).mean() > 0.9
    assert (first - true).mean() > 12
