"""The best of a random number of runs: its law, and prices held against exact laws of small runs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_law
from numpy.typing import NDArray
from scipy import special

import bruit
from bruit.core.best_of import BestOf, RenyiBounded
from bruit.core.losses import Approximate, DiscreteGaussian, Gaussian, Loss, Pure, ZeroConcentrated, loss_from_json
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import Purchase, ask
from bruit.ledger.best_of_runs import price_runs
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, basic, rdp, zcdp

Floats = NDArray[np.float64]
NEAR = {"neighbours": ADD_OR_REMOVE_ONE}


def chances(shape: int, stop: float, most: int) -> Floats:
    """The law of the number of runs, up to `most` of them."""
    runs = np.arange(1, most + 1)
    weights = (1 - stop) ** runs / (runs if shape == 0 else 1)
    return np.asarray(weights / ((-math.log(stop)) if shape == 0 else (1 - stop) / stop))


def best_of(law: Floats, shape: int, stop: float) -> Floats:
    """The law of the best of the runs, from the worst output to the best: differences of E[F^K], not our formula."""
    below = np.concatenate([[0.0], np.cumsum(law)])
    base = 1 - (1 - stop) * np.minimum(below, 1.0)
    moments = np.log(base) / math.log(stop) if shape == 0 else stop * below / base
    return np.diff(moments)


def renyi(p: Floats, q: Floats, order: float) -> float:
    return float(special.logsumexp(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1))


LAWS = st.lists(st.floats(0.01, 1), min_size=2, max_size=6)


@settings(max_examples=40)
@given(LAWS, st.data(), st.sampled_from([0, 1]), st.sampled_from([0.5, 0.1, 0.01]))
def test_the_price_bounds_the_best_of_any_run(weights: list[float], data: Any, shape: int, stop: float) -> None:
    p = np.array(weights) / sum(weights)
    moved = data.draw(st.lists(st.floats(0.5, 2), min_size=len(p), max_size=len(p)))
    q = p * moved / (p * moved).sum()
    epsilon = float(np.abs(np.log(p / q)).max())
    best, other = best_of(p, shape, stop), best_of(q, shape, stop)
    whole = basic(BestOf(Pure(max(epsilon, 1e-9), **NEAR), shape=shape, stop=stop))[0]
    assert float(np.abs(np.log(best / other)).max()) <= float(whole) + 1e-6
    orders = (1.5, 2.0, 4.0, 16.0, 256.0)
    rho = max(renyi(a, b, order) / order for order in np.geomspace(1.001, 4096, 80) for a, b in ((p, q), (q, p)))
    rho = max(rho * 1.1, epsilon / 4096)  # between the orders of the grid; beyond them it is at most epsilon
    loss = BestOf(ZeroConcentrated(rho + 1e-9, **NEAR), shape=shape, stop=stop)
    for order in orders:
        found = renyi(best, other, order)
        assert found <= float(rdp(loss, order)) + 1e-9
        assert found <= float(zcdp(loss)) * order + 1e-9
        run = RenyiBounded(max(renyi(p, q, order), renyi(q, p, order), 1e-9), order=order, **NEAR)
        assert found <= float(rdp(BestOf(run, shape=shape, stop=stop), order)) + 1e-9


@settings(max_examples=80)
@given(LAWS, st.data(), st.sampled_from([0, 1]), st.sampled_from([0.5, 0.1, 0.01]), st.sampled_from([0.2, 0.01, 1e-4]))
def test_the_price_bounds_the_best_of_runs_that_may_fail(
    weights: list[float], data: Any, shape: int, stop: float, delta: float
) -> None:
    """Every (epsilon, delta) pair is a mixture: with delta anything at all happens, else laws within epsilon."""

    def drawn(values: st.SearchStrategy[float]) -> Floats:
        return np.array(data.draw(st.lists(values, min_size=len(weights), max_size=len(weights))))

    law = np.array(weights)
    ends = [law / law.sum(), law * (moved := drawn(st.floats(0.5, 2))) / (law * moved).sum()]
    epsilon = max(float(np.abs(np.log(ends[0] / ends[1])).max()), 1e-9)
    failed = [each / each.sum() for each in (drawn(st.sampled_from([1e-6, 1.0])) for _ in range(2))]
    best, other = (
        best_of((1 - delta) * end + delta * anything, shape, stop) for end, anything in zip(ends, failed, strict=True)
    )
    promised = basic(BestOf(Approximate(epsilon, delta, **NEAR), shape=shape, stop=stop))
    assert np.maximum(best - math.exp(promised[0]) * other, 0).sum() <= float(promised[1]) + 1e-9
    whole = BestOf(Approximate(epsilon, delta, **NEAR), shape=shape, stop=stop)
    for share in (0.3, 0.6, 0.8, 0.95):
        spent = share * float(promised[0])
        bound = float(bruit.privacy.delta(whole, epsilon=spent, by="pld"))
        for one, two in ((best, other), (other, best)):
            assert np.maximum(one - math.exp(spent) * two, 0).sum() <= bound + 1e-9


@settings(max_examples=40)
@given(st.data(), st.sampled_from([0, 1]), st.sampled_from([0.5, 0.1, 0.01]), st.sampled_from([0.5, 1.0, 3.0]))
def test_the_profile_bounds_the_best_of_normal_outputs_in_any_order(
    data: Any, shape: int, stop: float, noise: float
) -> None:
    """Cells of two shifted normal laws, from worst to best in an order of the adversary's."""
    edges = np.arange(-3, 5) * noise
    order = np.array(data.draw(st.permutations(range(len(edges) + 1))))
    laws = [np.diff(special.ndtr((edges - shift) / noise), prepend=0.0, append=1.0)[order] for shift in (0, 1)]
    best, other = (best_of(law, shape, stop) for law in laws)
    whole = BestOf(Gaussian(noise, **NEAR), shape=shape, stop=stop)
    for delta in (0.1, 1e-3, 1e-5):
        spent = float(bruit.privacy.epsilon(whole, delta=delta, by="pld"))
        for one, two in ((best, other), (other, best)):
            assert np.maximum(one - math.exp(spent) * two, 0).sum() <= delta + 1e-9


def test_the_best_of_runs_costs_more_than_one_and_nearly_three() -> None:
    """A rare output just below a rarer one: a price of two runs would be broken."""
    epsilon, tail = 0.5, 1e-3
    law = np.array([1 - tail, tail / 1000, tail * 0.999])
    shifted = np.array([0.0, law[1] * math.exp(epsilon), law[2] * math.exp(-epsilon)])
    shifted[0] = 1 - shifted[1:].sum()
    ratio = math.log(best_of(shifted, 1, 1e-6)[1] / best_of(law, 1, 1e-6)[1])
    assert 2.9 * epsilon < ratio <= 3 * epsilon


@pytest.mark.parametrize(("stopping", "shape"), [("geometric", 1), ("logarithmic", 0)])
def test_the_number_of_runs_follows_its_law(stopping: str, shape: int) -> None:
    run = price_runs(purchase(epsilon=1), tries=4, stopping=stopping)
    rng = np.random.default_rng(1)
    counts = np.bincount(np.minimum([run.draw_runs(rng) for _ in range(600)], 12), minlength=13)[1:]
    law = chances(shape, float(run.stop), 11)
    assert_law(counts, np.append(law, 1 - law.sum()))
    assert run.whole.mean == pytest.approx(4, rel=0.25)
    assert (chances(shape, float(run.stop), 10_000) * np.arange(1, 10_001)).sum() == pytest.approx(run.whole.mean)


def purchase(by: Any = "basic", epsilon: float = 2, delta: float | None = None, loss: Loss | None = None) -> Purchase:
    book = bruit.Ledger("rows", epsilon=50, delta=1e-5, person=EACH_ROW, by=by, **NEAR)
    budget = book.budget(loss) if loss is not None else book.budget(epsilon=epsilon, delta=delta)
    return ask(budget, what="search", person=EACH_ROW)


PRICES = {
    "pure": {},
    "delta": {"delta": 1e-6},
    "pure in zcdp": {"by": "zcdp"},
    "delta in zcdp": {"by": "zcdp", "delta": 1e-5},
    "rho": {"by": "zcdp", "loss": ZeroConcentrated("1/2", **NEAR)},
    "delta in rdp": {"by": ("rdp", 8), "delta": 1e-5, "epsilon": 4},
    "rho in rdp": {"by": ("rdp", 8), "loss": ZeroConcentrated("1/2", **NEAR)},
}


@pytest.mark.parametrize("name", PRICES)
@pytest.mark.parametrize("stopping", ["geometric", "logarithmic"])
@pytest.mark.parametrize("sampled", [False, True])
def test_the_runs_use_the_price_and_no_more(name: str, stopping: str, sampled: bool) -> None:
    bought = purchase(**PRICES[name])
    run = price_runs(bought, tries=10, stopping=stopping, sampled=sampled)
    assert isinstance(run.loss, RenyiBounded) == (sampled and "in rdp" in name)
    quote = bought.quote(run.whole)
    price = bought.price
    if price.room is not None:
        assert 0.999 < quote.cost.main / price.room.main <= 1
    else:
        assert quote.guarantee.delta <= price.delta
        assert 0.999 < quote.guarantee.epsilon / price.epsilon <= 1
    charge = bought.pay(run.whole)
    (entry,) = price.ledger.entries
    assert (charge.guarantee, entry.loss) == (quote.guarantee, run.whole)
    assert loss_from_json(run.whole.to_json()) == run.whole


@pytest.mark.parametrize("stopping", ["geometric", "logarithmic"])
def test_gaussian_runs_use_the_price_and_no_more_by_their_profile(stopping: str) -> None:
    bought = purchase(epsilon=3, delta=1e-5)
    run = price_runs(bought, tries=16, stopping=stopping, gaussian=True)
    assert isinstance(run.loss, Gaussian)
    third = price_runs(bought, tries=16, stopping=stopping)
    assert run.epsilon > third.epsilon  # dearer runs for the same price
    charge = bought.pay(run.whole)
    assert charge.guarantee.delta <= bought.price.delta
    assert 0.999 < charge.guarantee.epsilon / 3 <= 1
    spent = zcdp(run.budget("run").loss)
    assert spent == pytest.approx(float(1 / (2 * run.loss.noise**2)), rel=1e-4)


@pytest.mark.parametrize("sampled", [False, True])
def test_the_noise_of_a_score_costs_what_a_run_may(sampled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run = price_runs(purchase(by=("rdp", 8), delta=1e-5, epsilon=4), tries=10, stopping="geometric", sampled=sampled)
    drawn: list[Fraction] = []
    monkeypatch.setattr(bruit.randomness, "discrete_gaussian", lambda variance, size, rng: drawn.append(variance))
    run.score_noise(3, np.random.default_rng(1))
    spent = rdp(DiscreteGaussian(drawn[0], squared_sensitivity=9, **NEAR), 8)
    assert spent == pytest.approx(float(rdp(run.loss, 8)), rel=1e-9)


def test_the_delta_of_every_run_is_paid() -> None:
    loss = BestOf(Approximate(1, "1/1000", **NEAR), shape=1, stop="1/20")
    epsilon, delta = basic(loss)
    assert epsilon == 3
    assert Fraction(20, 1000) <= delta <= Fraction(2001, 100_000)


def test_what_is_no_law_or_buys_no_run_is_refused() -> None:
    with pytest.raises(NotPrivate, match="higher order"):
        price_runs(purchase(by=("rdp", 8), delta=1e-5), tries=10, stopping="geometric", sampled=True)
    for wrong in ({"shape": 2, "stop": "1/2"}, {"shape": 1, "stop": 0}, {"shape": 0, "stop": 2}):
        with pytest.raises(InvalidArgument):
            BestOf(Pure(1, **NEAR), **wrong)
    with pytest.raises(NotPrivate, match="lower tries"):
        price_runs(purchase(epsilon=1e-7, delta=1e-12), tries=10, stopping="geometric", gaussian=True)
    with pytest.raises(InvalidArgument, match="stopping="):
        price_runs(purchase(), tries=3, stopping="poisson")
    with pytest.raises(NotPrivate):
        price_runs(
            purchase(loss=bruit.privacy.DiscreteLaplace(1, sensitivity=1, **NEAR)), tries=3, stopping="geometric"
        )
