import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from privacy.inversion import SampledGaussianOracle, single_delta
from scipy import integrate, optimize, special, stats

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
    convolution,
    delta,
    epsilon,
    parallel,
)
from bruit.privacy.pld import pld_curve, pld_delta, pld_epsilon

AR = ADD_OR_REMOVE_ONE


def sampled(rate, noise, neighbours=AR):
    return Sampled(Gaussian(noise, neighbours=AR), rate=rate, scheme=Scheme.POISSON, neighbours=neighbours)


def random_cases(count):
    rng = np.random.default_rng(20)
    for _ in range(count):
        yield (
            10 ** rng.uniform(-3.5, 0),
            10 ** rng.uniform(-0.5, 0.7),
            int(10 ** rng.uniform(2, 4.5)),
            10 ** rng.uniform(-12, -3),
        )


@pytest.mark.parametrize(("rate", "noise", "steps", "chance"), list(random_cases(16)))
def test_sampled_gaussian_meets_the_limit_found_without_a_grid(rate, noise, steps, chance):
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
def test_huge_epsilons_are_as_sharp(rate, noise, steps, chance):
    limit = SampledGaussianOracle(rate, 0, noise, steps).epsilon(chance)
    assert limit > 100
    assert limit - 1e-9 <= pld_epsilon(sampled(rate, noise) * steps, chance) <= limit + 1e-3


@pytest.mark.parametrize("rate", [1e-4, 0.01, 0.5])
@pytest.mark.parametrize("noise", [0.4, 1.0, 4.0])
@pytest.mark.parametrize("neighbours", [AR, REPLACE_ONE])
def test_one_step_has_a_closed_form(rate, noise, neighbours):
    pairs = [(rate, rate)] if neighbours is REPLACE_ONE else [(rate, 0.0), (0.0, rate)]
    loss = sampled(rate, noise, neighbours)
    for chance in (1e-9, 1e-5):
        found = pld_epsilon(loss, chance)
        worst = max(single_delta(p, q, noise, found) for p, q in pairs if found < -math.log1p(-q) or q == 0 or p > 0)
        assert worst <= chance * (1 + 1e-7)
        if found > 2e-3:
            assert max(single_delta(p, q, noise, found - 1e-3) for p, q in pairs if p > 0) > chance


@pytest.mark.parametrize("target", [-0.3, 0.0, 0.05, 0.4])
def test_no_two_records_are_told_apart_better_than_opposite_ones(target):
    """The pair of Kahane's inequality against random records in the unit disc, by a plane integral."""
    rate, noise, rng = 0.3, 0.8, np.random.default_rng(3)
    axis = np.linspace(-5.5, 5.5, 301)
    x, y = np.meshgrid(axis, axis)
    cell = (axis[1] - axis[0]) ** 2 / (2 * np.pi * noise**2)

    def law(centre):
        return np.exp(-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / (2 * noise**2)) * cell

    def stick(v, w):
        base = (1 - rate) * law((0, 0))
        return np.maximum(base + rate * law(v) - math.exp(target) * (base + rate * law(w)), 0).sum()

    worst = stick((1, 0), (-1, 0))
    angles, radii = rng.uniform(0, 2 * np.pi, (30, 2)), np.sqrt(rng.uniform(0, 1, (30, 2)))
    for (a, b), (r, s) in zip(angles, radii, strict=True):
        assert stick((r * np.cos(a), r * np.sin(a)), (s * np.cos(b), s * np.sin(b))) <= worst + 1e-6
    if target > 0:
        assert pld_delta(sampled(rate, noise, REPLACE_ONE), target) == pytest.approx(worst, rel=2e-3)


def test_two_steps_by_an_integral():
    rate, noise, chance = 0.05, 0.8, 1e-5

    def twice(target):
        def inner(x):
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
def test_pure_losses_are_the_exact_two_point_composition(size, times, chance):
    with mpmath.workdps(60):
        e = mpmath.mpf(repr(size))
        top = 1 / (1 + mpmath.exp(-e))
        counts = range(times + 1)
        masses = [mpmath.binomial(times, k) * top**k * (1 - top) ** (times - k) for k in counts]

        def exact(target):
            return sum(
                m * (1 - mpmath.exp(target - e * (2 * k - times)))
                for k, m in zip(counts, masses, strict=True)
                if e * (2 * k - times) > target
            )

        found = pld_epsilon(Pure(size, neighbours=AR) * times, chance)
        assert exact(mpmath.mpf(found)) <= chance * (1 + mpmath.mpf(1e-8))
        assert exact(mpmath.mpf(found) - mpmath.mpf(1e-4)) > chance


def test_approximate_losses_fail_and_compose():
    loss = Approximate(0.1, 1e-8, neighbours=AR) * 20
    assert pld_delta(loss, 2.0) == pytest.approx(-math.expm1(20 * math.log1p(-1e-8)), rel=1e-3)
    assert pld_epsilon(Pure(0.1, neighbours=AR) * 20, 1e-6) < pld_epsilon(loss, 1e-6)
    with pytest.raises(NotPrivate, match="no finite price"):
        epsilon(loss, delta=1e-7, by="pld")


def test_thirty_discrete_laplace_releases_cost_more_than_continuous_ones():
    discrete, smooth = DiscreteLaplace(2, sensitivity=1, neighbours=AR), Laplace(2, sensitivity=1, neighbours=AR)
    assert pld_epsilon(discrete * 30, 1e-6) == pytest.approx(13.952, abs=5e-4)
    assert pld_epsilon(smooth * 30, 1e-6) == pytest.approx(13.0656, abs=5e-4)


def test_discrete_laplace_of_larger_sensitivity_by_convolution():
    k = np.arange(-400, 401)
    weights = np.exp(-np.abs(k) / 3)
    p, q = (np.exp(-np.abs(k - s) / 3) / weights.sum() for s in (0, 2))
    loss = np.log(p / q)
    pairs, mass = np.add.outer(loss, loss).ravel(), np.multiply.outer(p, p).ravel()

    def exact(target):
        return float(np.sum(mass * np.maximum(0, -np.expm1(target - pairs))))

    twice = DiscreteLaplace(3, sensitivity=2, neighbours=AR) * 2
    for target in (0.1, 0.5, 1.0):
        assert pld_delta(twice, target) == pytest.approx(exact(target), rel=1e-9)


@pytest.mark.parametrize("shifts", [(2,), (1, 1, 1, 1)])
def test_discrete_gaussian_covers_every_spread_over_the_entries(shifts):
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


def test_a_wide_discrete_gaussian_is_nearly_a_gaussian():
    wide = DiscreteGaussian(10**6, squared_sensitivity=10**6, neighbours=AR) * 3
    smooth = Gaussian(1, neighbours=AR) * 3
    assert pld_epsilon(wide, 1e-6) == pytest.approx(pld_epsilon(smooth, 1e-6), abs=1e-3)
    with pytest.raises(NotPrivate, match="too wide"):
        pld_epsilon(DiscreteGaussian(10**14, squared_sensitivity=1, neighbours=AR) * 2, 1e-6)


def test_gaussian_releases_are_one_of_their_joint_precision():
    loss = Gaussian(3, neighbours=AR) * 7 + Gaussian(2, neighbours=AR)
    shift = math.sqrt(7 / 9 + 1 / 4)
    exact = stats.norm.cdf(shift / 2 - 1 / shift) - math.e * stats.norm.cdf(-shift / 2 - 1 / shift)
    assert pld_delta(loss, 1.0) == pytest.approx(exact, rel=1e-9)


def test_different_losses_share_one_grid():
    """A Gaussian beside a pure loss, whose mixture of two Gaussian divergences is exact."""
    loss = Gaussian(1, neighbours=AR) + Pure(1, neighbours=AR)

    def gauss(target):
        return stats.norm.cdf(0.5 - target) - math.exp(target) * stats.norm.cdf(-0.5 - target)

    top = 1 / (1 + math.exp(-1))
    exact = top * gauss(2.0) + (1 - top) * gauss(4.0)
    assert exact <= pld_delta(loss, 3.0) * (1 + 1e-9)
    assert pld_delta(loss, 3.0) == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_a_fixed_size_sample_is_covered_for_replacement(rate):
    """Against the law it is proved for: q H_gamma(P, Q), with gamma = (e^epsilon - 1 + q) / q, of one step."""
    loss = Sampled(Gaussian(1, neighbours=REPLACE_ONE), rate=rate, scheme=Scheme.FIXED_SIZE)
    for target in (0.05, 0.5, 1.5):
        inner = math.log((math.expm1(target) + rate) / rate)
        exact = rate * (stats.norm.cdf(0.5 - inner) - math.exp(inner) * stats.norm.cdf(-0.5 - inner))
        found = pld_delta(loss, target)
        assert exact * (1 - 1e-9) <= found <= exact * (1 + 5e-3)
    whole = pld_epsilon(Sampled(Gaussian(1, neighbours=REPLACE_ONE), rate=1, scheme=Scheme.FIXED_SIZE), 1e-5)
    assert whole == pytest.approx(pld_epsilon(Gaussian(1, neighbours=REPLACE_ONE), 1e-5), abs=1e-6)


def test_a_shuffled_pass_pays_once():
    one = Sampled(Gaussian(2, neighbours=REPLACE_ONE), rate=0.01, scheme=Scheme.SHUFFLED)
    assert pld_epsilon(one * 5, 1e-6) == pytest.approx(pld_epsilon(Gaussian(2, neighbours=REPLACE_ONE) * 5, 1e-6))


def test_sampled_pure_losses_by_their_atoms():
    rate, size = 0.2, 1.0
    loss = Sampled(Pure(size, neighbours=AR), rate=rate, scheme=Scheme.POISSON)
    up = math.log1p(rate * math.expm1(size))
    mass = rate / (1 + math.exp(-size)) + (1 - rate) / (1 + math.exp(size))
    assert pld_delta(loss, 0.1) == pytest.approx(mass * -math.expm1(0.1 - up), rel=1e-3)
    assert pld_epsilon(loss * 50, 1e-6) < float(epsilon(loss * 50, delta=1e-6, by="rdp"))


def test_a_curve_is_its_points():
    loss = sampled(0.01, 1.0) * 10
    curve = pld_curve(loss, [1, 7, 40], 1e-6)
    points = [pld_epsilon(loss * n, 1e-6) for n in (1, 7, 40)]
    assert curve == pytest.approx(points, abs=3e-4)


def test_parallel_parts_are_every_choice():
    cells = [Gaussian(1, neighbours=AR), DiscreteLaplace(1, sensitivity=1, neighbours=AR)]
    worst = max(pld_epsilon(cell, 1e-3) for cell in cells)
    assert pld_epsilon(parallel(*cells), 1e-3) == pytest.approx(worst)
    many = [Pure(Fraction(n, 97), neighbours=AR) for n in range(1, 60)]
    with pytest.raises(NotPrivate, match="different ways"):
        pld_epsilon(parallel(*many, cells=5), 1e-6)
    with pytest.raises(NotPrivate, match="different ways"):
        pld_epsilon(parallel(*many, cells=5) + many[0], 1e-6)


@pytest.mark.parametrize("squared", [1, 2, 5, 9])
def test_many_entries_stay_below_the_concentrated_bound(squared):
    loss = DiscreteGaussian(9, squared_sensitivity=squared, entries=9, neighbours=AR) * 4
    assert pld_epsilon(loss, 1e-6) < float(epsilon(loss, delta=1e-6, by="zcdp"))


def test_what_has_no_dominating_pair_is_refused():
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


def test_delta_zero_is_the_largest_loss():
    assert epsilon(Pure(0.1, neighbours=AR) * 3, delta=0, by="pld") == Fraction(3, 10)
    with pytest.raises(NotPrivate, match="without a delta"):
        epsilon(Gaussian(1, neighbours=AR), delta=0, by="pld")


def test_delta_of_epsilon_is_the_inverse():
    loss = sampled(0.01, 1.0) * 1000
    spent = epsilon(loss, delta=1e-6, by="pld")
    assert float(delta(loss, epsilon=spent, by="pld")) == pytest.approx(1e-6, rel=1e-3)
    assert delta(loss, epsilon=300, by="pld") < Fraction(1, 10**100)


def test_dp_accounting_agrees():
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    theirs = PLDAccountant(value_discretization_interval=1e-4)
    theirs.compose(accounting.PoissonSampledDpEvent(0.02, accounting.GaussianDpEvent(0.9)), 300)
    theirs.compose(accounting.LaplaceDpEvent(4.0), 5)
    loss = sampled(0.02, 0.9) * 300 + Laplace(4, sensitivity=1, neighbours=AR) * 5
    found = pld_epsilon(loss, 1e-6)
    assert found == pytest.approx(theirs.get_epsilon(1e-6), abs=2e-3)


@pytest.mark.parametrize(("noise", "rate", "times"), [(1, 0.01, 1), (0.5, 0.3, 1), (1, 0.01, 10)])
def test_rule_the_grid_is_bounded_and_still_an_upper_bound(noise, rate, times, monkeypatch):
    points = []
    transform = convolution._tilted_sum
    monkeypatch.setattr(
        convolution, "_tilted_sum", lambda parts, tilt, count: points.append(count) or transform(parts, tilt, count)
    )
    loss = Sampled(Gaussian(noise, neighbours=AR), rate=rate, scheme=Scheme.POISSON) * times
    found = float(delta(loss, epsilon=0, by="pld"))
    one = rate * (2 * special.ndtr(0.5 / noise) - 1)  # the total variation of one step, and of many at most as often
    assert max(points) <= 4 * 2**20
    assert one <= found <= times * one * 1.0001


def test_repeats_that_no_grid_holds_are_refused_in_a_sentence():
    with pytest.raises(NotPrivate, match="ask by='rdp'"):
        epsilon(Pure("1e-9", neighbours=AR) * 10**18, delta=1e-6, by="pld")
