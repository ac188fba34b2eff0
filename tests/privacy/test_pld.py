import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from privacy.inversion import SampledGaussianOracle, single_delta
from scipy import integrate, optimize, special, stats

from bruit.core import Neighbours
from bruit.errors import NotPrivate
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    REPLACE_ONE,
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Pure,
    Sampled,
    Scheme,
    ZeroConcentrated,
    delta,
    epsilon,
    parallel,
)
from bruit.privacy.pld import convolution
from bruit.privacy.pld.distribution import pld_curve, pld_delta, pld_epsilon
from bruit.privacy.pld.dominating_pairs import _two_point
from bruit.privacy.pld.pairs import Direction, SampledPair

AR = ADD_OR_REMOVE_ONE


def sampled(rate: float, noise: float, neighbours: Neighbours = AR) -> Sampled:
    return Sampled(Gaussian(noise, neighbours=AR), rate=rate, scheme=Scheme.POISSON, neighbours=neighbours)


def random_cases(count: Any) -> Iterator[Any]:
    rng = np.random.default_rng(20)
    for _ in range(count):
        yield (
            10 ** rng.uniform(-3.5, 0),
            10 ** rng.uniform(-0.5, 0.7),
            int(10 ** rng.uniform(2, 4.5)),
            10 ** rng.uniform(-12, -3),
        )


@pytest.mark.parametrize(("rate", "noise", "steps", "chance"), list(random_cases(16)))
def test_sampled_gaussian_meets_the_limit_found_without_a_grid(
    rate: float, noise: float, steps: int, chance: float
) -> None:
    try:
        added = SampledGaussianOracle(0, rate, noise, steps).epsilon(chance)
        limits = {
            AR: max(SampledGaussianOracle(rate, 0, noise, steps).epsilon(chance), added),
            REPLACE_ONE: SampledGaussianOracle(rate, rate, noise, steps).epsilon(chance),
        }
    except ArithmeticError:
        pytest.skip("the contour integral has no answer here")
    for neighbours, limit in limits.items():
        if limit < 3000:
            found = pld_epsilon(sampled(rate, noise, neighbours) * steps, chance)
            assert limit - 1e-9 <= found <= limit + 1e-3


@pytest.mark.parametrize(("rate", "noise", "steps", "chance"), [(0.1, 0.5, 3000, 1e-8), (0.9, 1.0, 500, 1e-5)])
def test_huge_epsilons_are_as_sharp(rate: float, noise: float, steps: int, chance: float) -> None:
    limit = SampledGaussianOracle(rate, 0, noise, steps).epsilon(chance)
    assert limit > 100
    assert limit - 1e-9 <= pld_epsilon(sampled(rate, noise) * steps, chance) <= limit + 1e-3


@pytest.mark.parametrize("rate", [1e-4, 0.01, 0.5])
@pytest.mark.parametrize("noise", [0.4, 1.0, 4.0])
@pytest.mark.parametrize("neighbours", [AR, REPLACE_ONE])
def test_one_step_has_a_closed_form(rate: float, noise: float, neighbours: Neighbours) -> None:
    pairs = [(rate, rate)] if neighbours is REPLACE_ONE else [(rate, 0.0), (0.0, rate)]
    loss = sampled(rate, noise, neighbours)
    for chance in (1e-9, 1e-5):
        found = pld_epsilon(loss, chance)
        worst = max(single_delta(p, q, noise, found) for p, q in pairs if found < -math.log1p(-q) or q == 0 or p > 0)
        assert worst <= chance * (1 + 1e-7)
        if found > 2e-3:
            assert max(single_delta(p, q, noise, found - 1e-3) for p, q in pairs if p > 0) > chance


@pytest.mark.parametrize("neighbours", [AR, REPLACE_ONE])
@given(
    log_rate=st.floats(-6, -0.01), noise=st.floats(0.3, 20), log_delta=st.floats(-12, -0.5), share=st.floats(0.1, 0.99)
)
def test_one_step_at_any_rate_is_the_closed_form_and_its_inverse(
    neighbours: Neighbours, log_rate: float, noise: float, log_delta: float, share: float
) -> None:
    rate, loss = 10**log_rate, sampled(10**log_rate, noise, neighbours)
    chance = share * rate * 10**log_delta
    size = float(epsilon(loss, delta=chance, by="pld"))
    with mpmath.workdps(40):
        exact = max(exact_delta(p, q, noise, size) for p, q in ends(rate, neighbours))
    found = float(delta(loss, epsilon=size, by="pld"))
    assert exact * (1 - 1e-12) <= found <= exact * 1.01 + 1e-16 * rate
    assert exact <= chance * (1 + 1e-12)
    if size > 0:
        assert found >= 0.99 * chance


def ends(rate: float, neighbours: Neighbours) -> list[tuple[float, float]]:
    return [(rate, rate)] if neighbours is REPLACE_ONE else [(rate, 0.0), (0.0, rate)]


def exact_delta(p: float, q: float, noise: float, size: float) -> Any:
    """The hockey-stick divergence of one step to forty digits, above the one x of this loss found by halving."""
    p, q, noise, growth = mpmath.mpf(p), mpmath.mpf(q), mpmath.mpf(noise), mpmath.exp(mpmath.mpf(size))

    def gap(x: Any) -> Any:
        up, down = (mpmath.exp((side * 2 * x - 1) / (2 * noise**2)) for side in (1, -1))
        return 1 - p + p * up - growth * (1 - q + q * down)

    low, high = mpmath.mpf(-2000), mpmath.mpf(20000)
    if gap(high) <= 0:
        return mpmath.mpf(0)
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (low, middle) if gap(middle) > 0 else (middle, high)

    def above(mean: Any) -> Any:
        return mpmath.ncdf((mean - high) / noise)

    return (1 - p) * above(0) + p * above(1) - growth * ((1 - q) * above(0) + q * above(-1))


def test_delta_at_a_tiny_rate_is_not_that_of_the_grid() -> None:
    one = sampled(1e-5, 0.7)
    exact = single_delta(1e-5, 0, 0.7, 0.031)
    assert float(delta(one, epsilon=0.031, by="pld")) == pytest.approx(exact, rel=1e-9)
    for steps in (2, 10, 100):  # rare large losses: hardly ever does more than one step matter
        assert exact <= float(delta(one * steps, epsilon=0.031, by="pld")) <= 2 * steps * exact


@pytest.mark.parametrize("target", [-0.3, 0.0, 0.05, 0.4])
def test_no_two_records_are_told_apart_better_than_opposite_ones(target: float) -> None:
    """The pair of Kahane's inequality against random records in the unit disc, by a plane integral."""
    rate, noise, rng = 0.3, 0.8, np.random.default_rng(3)
    axis = np.linspace(-5.5, 5.5, 301)
    x, y = np.meshgrid(axis, axis)
    cell = (axis[1] - axis[0]) ** 2 / (2 * np.pi * noise**2)

    def law(centre: Any) -> Any:
        return np.exp(-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / (2 * noise**2)) * cell

    def stick(v: Any, w: Any) -> Any:
        base = (1 - rate) * law((0, 0))
        return np.maximum(base + rate * law(v) - math.exp(target) * (base + rate * law(w)), 0).sum()

    worst = stick((1, 0), (-1, 0))
    angles, radii = rng.uniform(0, 2 * np.pi, (30, 2)), np.sqrt(rng.uniform(0, 1, (30, 2)))
    for (a, b), (r, s) in zip(angles, radii, strict=True):
        assert stick((r * np.cos(a), r * np.sin(a)), (s * np.cos(b), s * np.sin(b))) <= worst + 1e-6
    if target > 0:
        assert pld_delta(sampled(rate, noise, REPLACE_ONE), target) == pytest.approx(worst, rel=2e-3)


def test_two_steps_by_an_integral() -> None:
    rate, noise, chance = 0.05, 0.8, 1e-5

    def twice(target: Any) -> Any:
        def inner(x: Any) -> Any:
            seen = math.log1p(rate * math.expm1((2 * x - 1) / (2 * noise**2)))
            density = (1 - rate) * stats.norm.pdf(x, 0, noise) + rate * stats.norm.pdf(x, 1, noise)
            rest = target - seen
            return density * (1 - math.exp(rest) if rest <= math.log1p(-rate) else single_delta(rate, 0, noise, rest))

        pieces = [-6, -2, 0, 1, 2, 3, 4, 8]
        return sum(integrate.quad(inner, a, b, epsabs=1e-15, epsrel=1e-10)[0] for a, b in itertools.pairwise(pieces))

    limit = optimize.brentq(lambda target: math.log(twice(target) / chance), 0.5, 6, xtol=1e-9)
    assert limit - 1e-7 <= pld_epsilon(sampled(rate, noise) * 2, chance) <= limit + 1e-3


@pytest.mark.parametrize(
    ("size", "times", "chance"), [(0.5, 30, 1e-6), (0.1, 100, 1e-9), (3.0, 7, 1e-3), (0.001, 5000, 1e-5)]
)
def test_pure_losses_are_the_exact_two_point_composition(size: float, times: int, chance: float) -> None:
    with mpmath.workdps(60):
        e = mpmath.mpf(repr(size))
        top = 1 / (1 + mpmath.exp(-e))
        counts = range(times + 1)
        masses = [mpmath.binomial(times, k) * top**k * (1 - top) ** (times - k) for k in counts]

        def exact(target: Any) -> Any:
            return sum(
                m * (1 - mpmath.exp(target - e * (2 * k - times)))
                for k, m in zip(counts, masses, strict=True)
                if e * (2 * k - times) > target
            )

        found = pld_epsilon(Pure(size, neighbours=AR) * times, chance)
        assert exact(mpmath.mpf(found)) <= chance * (1 + mpmath.mpf(1e-8))
        assert exact(mpmath.mpf(found) - mpmath.mpf(1e-4)) > chance


def test_approximate_losses_fail_and_compose() -> None:
    loss = Approximate(0.1, 1e-8, neighbours=AR) * 20
    assert pld_delta(loss, 2.0) == pytest.approx(-math.expm1(20 * math.log1p(-1e-8)), rel=1e-3)
    assert pld_epsilon(Pure(0.1, neighbours=AR) * 20, 1e-6) < pld_epsilon(loss, 1e-6)
    with pytest.raises(NotPrivate, match="no finite price"):
        epsilon(loss, delta=1e-7, by="pld")


def test_thirty_discrete_laplace_releases_cost_more_than_continuous_ones() -> None:
    discrete, smooth = DiscreteLaplace(2, sensitivity=1, neighbours=AR), Laplace(2, sensitivity=1, neighbours=AR)
    assert pld_epsilon(discrete * 30, 1e-6) == pytest.approx(13.952, abs=5e-4)
    assert pld_epsilon(smooth * 30, 1e-6) == pytest.approx(13.0656, abs=5e-4)


def test_discrete_laplace_of_larger_sensitivity_by_convolution() -> None:
    k = np.arange(-400, 401)
    weights = np.exp(-np.abs(k) / 3)
    p, q = (np.exp(-np.abs(k - s) / 3) / weights.sum() for s in (0, 2))
    loss = np.log(p / q)
    pairs, mass = np.add.outer(loss, loss).ravel(), np.multiply.outer(p, p).ravel()

    def exact(target: Any) -> Any:
        return float(np.sum(mass * np.maximum(0, -np.expm1(target - pairs))))

    twice = DiscreteLaplace(3, sensitivity=2, neighbours=AR) * 2
    for target in (0.1, 0.5, 1.0):
        assert pld_delta(twice, target) == pytest.approx(exact(target), rel=1e-9)


@pytest.mark.parametrize("shifts", [(2,), (1, 1, 1, 1)])
def test_discrete_gaussian_covers_every_spread_over_the_entries(shifts: tuple[int, ...]) -> None:
    variance, chance = 4.0, 1e-4
    k = np.arange(-60, 61, dtype=float)
    mass = np.exp(-(k**2) / (2 * variance))
    mass /= mass.sum()
    losses, masses = np.zeros(1), np.ones(1)
    for shift in shifts:
        losses = np.add.outer(losses, shift * (shift - 2 * k) / (2 * variance)).ravel()
        masses = np.multiply.outer(masses, mass).ravel()
        keep = masses > 1e-13
        losses, masses = losses[keep], masses[keep]
    loss = DiscreteGaussian(variance, squared_sensitivity=4, entries=4, neighbours=AR)
    found = pld_epsilon(loss, chance)
    assert np.sum(masses * np.maximum(0, -np.expm1(found - losses))) <= chance


def test_a_wide_discrete_gaussian_is_nearly_a_gaussian() -> None:
    wide = DiscreteGaussian(10**6, squared_sensitivity=10**6, neighbours=AR) * 3
    smooth = Gaussian(1, neighbours=AR) * 3
    assert pld_epsilon(wide, 1e-6) == pytest.approx(pld_epsilon(smooth, 1e-6), abs=1e-3)
    with pytest.raises(NotPrivate, match="too wide"):
        pld_epsilon(DiscreteGaussian(10**14, squared_sensitivity=1, neighbours=AR) * 2, 1e-6)


def test_gaussian_releases_are_one_of_their_joint_precision() -> None:
    loss = Gaussian(3, neighbours=AR) * 7 + Gaussian(2, neighbours=AR)
    shift = math.sqrt(7 / 9 + 1 / 4)
    exact = stats.norm.cdf(shift / 2 - 1 / shift) - math.e * stats.norm.cdf(-shift / 2 - 1 / shift)
    assert pld_delta(loss, 1.0) == pytest.approx(exact, rel=1e-9)


def test_different_losses_share_one_grid() -> None:
    """A Gaussian beside a pure loss, whose mixture of two Gaussian divergences is exact."""
    loss = Gaussian(1, neighbours=AR) + Pure(1, neighbours=AR)

    def gauss(target: Any) -> Any:
        return stats.norm.cdf(0.5 - target) - math.exp(target) * stats.norm.cdf(-0.5 - target)

    top = 1 / (1 + math.exp(-1))
    exact = top * gauss(2.0) + (1 - top) * gauss(4.0)
    assert exact <= pld_delta(loss, 3.0) * (1 + 1e-9)
    assert pld_delta(loss, 3.0) == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_a_fixed_size_sample_is_covered_for_replacement(rate: float) -> None:
    """Against the law it is proved for: q H_gamma(P, Q), with gamma = (e^epsilon - 1 + q) / q, of one step."""
    loss = Sampled(Gaussian(1, neighbours=REPLACE_ONE), rate=rate, scheme=Scheme.FIXED_SIZE)
    for target in (0.05, 0.5, 1.5):
        inner = math.log((math.expm1(target) + rate) / rate)
        exact = rate * (stats.norm.cdf(0.5 - inner) - math.exp(inner) * stats.norm.cdf(-0.5 - inner))
        found = pld_delta(loss, target)
        assert exact * (1 - 1e-9) <= found <= exact * (1 + 5e-3)
    whole = pld_epsilon(Sampled(Gaussian(1, neighbours=REPLACE_ONE), rate=1, scheme=Scheme.FIXED_SIZE), 1e-5)
    assert whole == pytest.approx(pld_epsilon(Gaussian(1, neighbours=REPLACE_ONE), 1e-5), abs=1e-6)


def test_a_shuffled_pass_pays_once() -> None:
    one = Sampled(Gaussian(2, neighbours=REPLACE_ONE), rate=0.01, scheme=Scheme.SHUFFLED)
    assert pld_epsilon(one * 5, 1e-6) == pytest.approx(pld_epsilon(Gaussian(2, neighbours=REPLACE_ONE) * 5, 1e-6))


def test_sampled_pure_losses_by_their_atoms() -> None:
    rate, size = 0.2, 1.0
    loss = Sampled(Pure(size, neighbours=AR), rate=rate, scheme=Scheme.POISSON)
    up = math.log1p(rate * math.expm1(size))
    mass = rate / (1 + math.exp(-size)) + (1 - rate) / (1 + math.exp(size))
    assert pld_delta(loss, 0.1) == pytest.approx(mass * -math.expm1(0.1 - up), rel=1e-3)
    assert pld_epsilon(loss * 50, 1e-6) < float(epsilon(loss * 50, delta=1e-6, by="rdp"))


@settings(max_examples=60)
@given(
    log_size=st.floats(-4, 1.4),
    log_rate=st.floats(-6, 0),
    times=st.sampled_from([1, 1, 2, 10]),
    log_delta=st.floats(-14, -1),
    scheme=st.sampled_from([(Scheme.POISSON, AR), (Scheme.FIXED_SIZE, REPLACE_ONE)]),
    kind=st.sampled_from([Pure, Laplace, DiscreteLaplace]),
)
def test_no_sampled_bounded_loss_costs_more_than_the_sum(
    log_size: float, log_rate: float, times: int, log_delta: float, scheme: tuple[Scheme, Neighbours], kind: type[Any]
) -> None:
    size, chance = Fraction(10**log_size), 10**log_delta
    base = Pure(size, neighbours=scheme[1]) if kind is Pure else kind(1 / size, sensitivity=1, neighbours=scheme[1])
    loss = Sampled(base, rate=10**log_rate, scheme=scheme[0]) * times
    try:
        found = epsilon(loss, delta=chance, by="pld")
    except NotPrivate:  # no grid holds it: refused in a sentence, as another test asks
        reject()
    assert found <= epsilon(loss, delta=chance, by="basic")


@pytest.mark.parametrize("direction", [Direction.REMOVE, Direction.ADD])
@given(size=st.floats(1e-4, 20), log_rate=st.floats(-6, -0.01))
def test_the_top_of_a_sampled_pair_is_its_highest_atom(direction: Direction, size: float, log_rate: float) -> None:
    pair = SampledPair(_two_point(Fraction(size), 0.0), 10**log_rate, direction)
    grown = math.expm1(size if direction is Direction.REMOVE else -size)
    assert pair.top == pytest.approx(abs(math.log1p(10**log_rate * grown)), rel=1e-9)


def test_a_small_pure_loss_beside_gaussian_noise_costs_no_more_than_the_sum() -> None:
    for small in (1e-9, 1e-6, 1e-3):
        loss = Gaussian(1, neighbours=AR) + Pure(small, neighbours=AR)
        assert epsilon(loss, delta=1e-6, by="pld") <= epsilon(loss, delta=1e-6, by="basic") * (1 + Fraction(1, 10**12))
        assert pld_delta(loss, 1 + small) <= pld_delta(Gaussian(1, neighbours=AR), 1) * (1 + 1e-9)


def test_a_curve_is_its_points() -> None:
    loss = sampled(0.01, 1.0) * 10
    curve = pld_curve(loss, [1, 7, 40], 1e-6)
    points = [pld_epsilon(loss * n, 1e-6) for n in (1, 7, 40)]
    assert curve == pytest.approx(points, abs=3e-4)


def test_parallel_parts_are_every_choice() -> None:
    cells = [Gaussian(1, neighbours=AR), DiscreteLaplace(1, sensitivity=1, neighbours=AR)]
    worst = max(pld_epsilon(cell, 1e-3) for cell in cells)
    assert pld_epsilon(parallel(*cells), 1e-3) == pytest.approx(worst)
    many = [Pure(Fraction(n, 97), neighbours=AR) for n in range(1, 60)]
    with pytest.raises(NotPrivate, match="different ways"):
        pld_epsilon(parallel(*many, cells=5), 1e-6)
    with pytest.raises(NotPrivate, match="different ways"):
        pld_epsilon(parallel(*many, cells=5) + many[0], 1e-6)


@pytest.mark.parametrize(("squared", "times"), [(1, 4), (2, 4), (5, 1), (9, 1)])
def test_many_entries_stay_below_the_concentrated_bound(squared: int, times: int) -> None:
    loss = DiscreteGaussian(9, squared_sensitivity=squared, entries=9, neighbours=AR) * times
    assert pld_epsilon(loss, 1e-6) < float(epsilon(loss, delta=1e-6, by="zcdp"))


def test_who_is_in_other_parts_from_release_to_release_has_no_pair() -> None:
    """Three times in one part and once in the other costs nearly four times the delta of either part four times."""
    pure, smooth = Pure(1, neighbours=AR), Gaussian(Fraction(3, 2), neighbours=AR)
    mixed, asked = pure * 3 + smooth, parallel(pure, smooth) * 4
    assert delta(mixed, epsilon=4, by="pld") > 3 * max(delta(one * 4, epsilon=4, by="pld") for one in (pure, smooth))
    for by in ("rdp", "zcdp"):
        assert delta(asked, epsilon=4, by=by) > delta(mixed, epsilon=4, by="pld")
    for several in (asked, parallel(pure, smooth) + pure, parallel(asked, pure), _spread() * 2, _spread() + pure):
        with pytest.raises(NotPrivate, match="different ways"):
            epsilon(several, delta=1e-3, by="pld")
        with pytest.raises(NotPrivate, match="different ways"):
            delta(several, epsilon=4, by="pld")


def _spread() -> DiscreteGaussian:
    return DiscreteGaussian(1, squared_sensitivity=4, entries=4, neighbours=AR)


def test_parts_of_one_kind_have_a_worst() -> None:
    loose, tight = Gaussian(2, neighbours=AR), Gaussian(1, neighbours=AR)
    assert pld_epsilon(parallel(loose, tight) * 9, 1e-6) == pld_epsilon(tight * 9, 1e-6)


def test_what_has_no_dominating_pair_is_refused() -> None:
    with pytest.raises(NotPrivate, match="ZeroConcentrated has no dominating pair"):
        epsilon(ZeroConcentrated(1, neighbours=AR), delta=1e-6, by="pld")
    inside = Sampled(Gaussian(1, neighbours=REPLACE_ONE), rate=0.1, scheme=Scheme.POISSON)
    with pytest.raises(NotPrivate, match="poisson sampling for replace one"):
        epsilon(inside, delta=1e-6, by="pld")
    twice = Sampled(sampled(0.1, 1.0), rate=0.5, scheme=Scheme.POISSON)
    with pytest.raises(NotPrivate, match="itself a sample"):
        epsilon(twice, delta=1e-6, by="pld")
    several = Pure(1, neighbours=AR) + Laplace(1, sensitivity=1, neighbours=AR)
    with pytest.raises(NotPrivate, match="several different releases"):
        epsilon(Sampled(several, rate=0.1, scheme=Scheme.POISSON), delta=1e-6, by="pld")


def test_delta_zero_is_the_largest_loss() -> None:
    assert epsilon(Pure(0.1, neighbours=AR) * 3, delta=0, by="pld") == Fraction(3, 10)
    with pytest.raises(NotPrivate, match="without a delta"):
        epsilon(Gaussian(1, neighbours=AR), delta=0, by="pld")


def test_delta_of_epsilon_is_the_inverse() -> None:
    loss = sampled(0.01, 1.0) * 1000
    spent = epsilon(loss, delta=1e-6, by="pld")
    assert float(delta(loss, epsilon=spent, by="pld")) == pytest.approx(1e-6, rel=1e-3)
    assert delta(loss, epsilon=300, by="pld") < Fraction(1, 10**100)


def test_dp_accounting_agrees() -> None:
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    theirs = PLDAccountant(value_discretization_interval=1e-4)
    theirs.compose(accounting.PoissonSampledDpEvent(0.02, accounting.GaussianDpEvent(0.9)), 300)
    theirs.compose(accounting.LaplaceDpEvent(4.0), 5)
    loss = sampled(0.02, 0.9) * 300 + Laplace(4, sensitivity=1, neighbours=AR) * 5
    found = pld_epsilon(loss, 1e-6)
    assert found == pytest.approx(theirs.get_epsilon(1e-6), abs=2e-3)


@pytest.mark.parametrize(("noise", "rate", "times"), [(1, 0.01, 2), (0.5, 0.3, 2), (1, 0.01, 10)])
def test_rule_the_grid_is_bounded_and_still_an_upper_bound(
    noise: float, rate: float, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = []
    transform = convolution._tilted_sum
    monkeypatch.setattr(
        convolution,
        "_tilted_sum",
        lambda parts, tilt, count: points.append(count) or transform(parts, tilt, count),  # type: ignore[func-returns-value]
    )
    loss = Sampled(Gaussian(noise, neighbours=AR), rate=rate, scheme=Scheme.POISSON) * times
    found = float(delta(loss, epsilon=0, by="pld"))
    one = rate * (2 * special.ndtr(0.5 / noise) - 1)  # the total variation of one step, and of many at most as often
    assert max(points) <= 4 * 2**20
    assert one <= found <= times * one * 1.0001


def test_repeats_that_no_grid_holds_are_refused_in_a_sentence() -> None:
    with pytest.raises(NotPrivate, match="ask by='rdp'"):
        epsilon(Pure("1e-9", neighbours=AR) * 10**18, delta=1e-6, by="pld")


def test_decayed_sums_follow_their_recurrence_across_blocks() -> None:
    mass = np.random.default_rng(0).random(convolution.BLOCK + 3)
    decay = 0.999
    found = convolution._decayed_sums(mass, decay)
    assert found[-1] == mass[-1]
    assert found[:-1] == pytest.approx(mass[:-1] + decay * found[1:], rel=1e-12)
