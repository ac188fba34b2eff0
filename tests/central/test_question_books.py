"""Questions paid from books of every kind: zCDP with its chance of failure, public sizes, quantiles and their ends."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import bruit
from bruit import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from bruit.central.questions import (
    Limit,
    Prepared,
    Question,
    RowRange,
    count,
    least_price,
    mean,
    people,
    quantiles,
    rollup,
    sensitivity,
    total,
    variance,
)
from bruit.central.questions.noises import BudgetShare, PricedNoise, buy, threshold, upper_tail
from bruit.central.questions.quantile_draws import moving_person
from bruit.central.questions.targets import half_widths
from bruit.central.ranks.mechanisms.exponential import rank_losses, rank_sensitivity
from bruit.central.ranks.mechanisms.segments import segments
from bruit.central.ranks.records import Person
from bruit.core.losses import Approximate, DiscreteGaussian, DiscreteLaplace, composed
from bruit.errors import BudgetExceeded, InvalidArgument, NotPrivate
from bruit.ledger import Terms
from bruit.ledger.terms import terms_from_json
from bruit.privacy import zcdp
from bruit.tables.plan.operators import Plan, open_table
from bruit.tables.schema import Schema, category, found, number, whole

COLUMNS = {
    "id": whole(),
    "ward": category(["A", "B"]),
    "days": number(0, 60, grid=1, missing=0),
    "city": found(longest=10),
}
RELATIONS = [ADD_OR_REMOVE_ONE, REPLACE_ONE]


def stays(n: int = 3000, *, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": rng.integers(0, n // 3, n),
            "ward": rng.choice(["A", "B", "x"], n).tolist(),
            "days": rng.gamma(1.6, 2.9, n).round(),
            "city": rng.choice(["Lyon", "Nice"], n).tolist(),
        }
    )


def opened(frame: Any, person: str = "id") -> Plan:
    return open_table(frame, Schema(person, COLUMNS, name="stays"))


def concentrated(neighbours: Any = ADD_OR_REMOVE_ONE, **terms: Any) -> Any:
    stated = {"epsilon": 8, "delta": 1e-5, "by": "zcdp", "failures": 1e-6, "person": "id"} | terms
    return bruit.Ledger("h", **stated, neighbours=neighbours)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_a_book_by_zcdp_takes_the_narrower_noise_at_equal_rho(neighbours: Any) -> None:
    """Few cells: Laplace, whose rho is epsilon^2 / 2; many: Gaussian, whose rho is l2^2 / (2 variance)."""
    rho = Fraction(1, 8)
    share = BudgetShare(Fraction(1, 2), Fraction(0), neighbours, rho)
    laws = set()
    for groups, confidence in product((1, 40), (0.5, 0.999999)):
        moved = sensitivity(RowRange(0, 1), Limit(groups=groups, each=1), groups=1000, neighbours=neighbours)
        offers = [buy(moved, share, confidence=confidence, kind=kind) for kind in (None, "laplace", "gaussian")]
        widths = [offer.noise.half_width(confidence) for offer in offers]
        assert widths[0] == min(widths[1:])
        assert all(zcdp(offer.loss) <= rho for offer in offers)
        laws.add(type(offers[0].noise.loss))
    small = sensitivity(RowRange(0, 1), Limit(rows=1), groups=1, neighbours=neighbours)
    laws.add(type(buy(small, share, confidence=0.3).noise.loss))
    assert laws == {DiscreteLaplace, DiscreteGaussian}


def test_one_charge_in_a_book_by_zcdp_is_the_sum_of_rho_and_of_failures() -> None:
    table, ledger = opened(stays()), concentrated()
    asked = Question(
        table,
        {"n": count(), "who": people(), "days": mean(table["days"])},
        {"ward": table["ward"], "city": table["city"]},
        Limit(groups=3, each=1),
        levels=rollup("ward", "city"),
    )
    release = asked.release(budget=ledger.budget(epsilon=4, delta=1e-6), rng=np.random.default_rng(1))
    assert "A / Lyon / n" in release.labels
    assert release.guarantee.epsilon <= 4
    assert ledger.book.spent().exact[1] == pytest.approx(5e-7, rel=1e-9)
    assert float(ledger.spent.total) == pytest.approx(float(zcdp(ledger.entries[0].loss)))
    with pytest.raises(BudgetExceeded):  # a second one fits in rho, a third passes the failures
        for _ in range(2):
            asked.release(budget=ledger.budget(epsilon=2, delta=1e-6))
    assert ledger.book.spent().exact[1] <= Fraction(1, 10**6)


def test_the_two_totals_of_a_book_are_two_limits_and_neither_is_exchanged() -> None:
    """A4: the capacity in rho is that of delta less failures, fixed when the book is made."""
    with_failures, less = concentrated(failures=Fraction(9, 10**6)), concentrated(delta=Fraction(1, 10**6), failures=0)
    assert with_failures.book.limit.main == less.book.limit.main
    assert concentrated(failures=0).book.limit.main > less.book.limit.main
    fails = Approximate(0, Fraction(9, 10**6), neighbours=ADD_OR_REMOVE_ONE)
    whole_rho = with_failures.book.limit.exact[0]
    with_failures.budget(fails, delta=Fraction(1, 10**5)).charge(fails, what="failure alone")
    full = bruit.privacy.ZeroConcentrated(whole_rho, neighbours=ADD_OR_REMOVE_ONE)
    with_failures.budget(full).charge(full, what="all of rho")
    assert with_failures.remaining.total == 0
    with pytest.raises(BudgetExceeded):
        with_failures.budget(fails, delta=Fraction(1, 10**5)).charge(fails, what="again")


def test_an_epsilon_delta_of_gaussian_noise_never_enters_a_book_by_zcdp() -> None:
    ledger = concentrated()
    mixed = Approximate(1, Fraction(1, 10**7), neighbours=ADD_OR_REMOVE_ONE)
    with pytest.raises(NotPrivate, match="its chance of failure by itself"):
        ledger.budget(mixed)
    table = opened(stays(60))
    asked = Question(table, {"n": count()}, {"city": table["city"]}, Limit(rows=1))
    with pytest.raises(NotPrivate, match=r"create one with Ledger\(\.\.\., by='zcdp', failures"):
        asked.release(budget=concentrated(failures=0).budget(epsilon=1, delta=1e-7))
    for terms in ({"by": "basic"}, {"failures": 1e-5}, {"failures": 0.1}):
        with pytest.raises(InvalidArgument, match="failures="):
            concentrated(**terms)
    known = ledger.terms
    assert terms_from_json(known.to_json()) == known
    assert "failures" not in Terms(known.epsilon, known.delta, known.neighbours, "id", "zcdp").to_json()


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_threshold_in_a_book_by_zcdp_fails_with_its_chance(k: int, kind: str) -> None:
    """A5, check 12: by the exact law, shown where the noisy number is at least the threshold."""
    failure, rho = Fraction(1, 10**7), Fraction(1, 8)
    moved = sensitivity(RowRange(0, 1, once=True), Limit(groups=k, each=1), groups=None, neighbours=REPLACE_ONE)
    bought = threshold(moved, BudgetShare(Fraction(1, 2), Fraction(0), REPLACE_ONE, rho), failure, groups=k, kind=kind)
    assert -np.expm1(k * np.log1p(-upper_tail(bought.noise, bought.least - 1))) <= failure
    assert -np.expm1(k * np.log1p(-upper_tail(bought.noise, bought.least - 2))) > failure
    assert zcdp(bought.loss) <= rho
    assert (
        bruit.privacy.accounting.composition.total(bought.loss, bruit.privacy.accounting.composition.approximation)
        == failure
    )


def test_the_curve_of_discrete_noise_is_no_function_of_its_squares() -> None:
    """A11: of one l2^2 = 4, four entries by one and one entry by two differ; the worse of them is what is charged."""

    def delta_of(spread: list[tuple[int, int]]) -> Fraction:
        lost = composed(
            (DiscreteGaussian(1, squared_sensitivity=by**2, neighbours=ADD_OR_REMOVE_ONE), times)
            for by, times in spread
        )
        return bruit.privacy.delta(lost, epsilon=1, by="pld")

    assert float(delta_of([(2, 1)])) == pytest.approx(0.540, abs=2e-3)
    assert float(delta_of([(1, 4)])) == pytest.approx(0.495, abs=2e-3)
    moved = sensitivity(RowRange(0, 1), Limit(rows=2), groups=9, neighbours=ADD_OR_REMOVE_ONE)
    assert moved.spreads is not None
    assert {tuple(sorted(spread)) for spread in moved.spreads} == {((2, 1),), ((1, 2),)}
    wide = sensitivity(RowRange(-3, 9), Limit(rows=2), groups=9, neighbours=ADD_OR_REMOVE_ONE)
    assert wide.spreads is None
    price = BudgetShare(Fraction(1), Fraction(1, 10**6), ADD_OR_REMOVE_ONE)
    noise = buy(wide, price, confidence=0.95, kind="gaussian").noise.loss
    assert isinstance(noise, DiscreteGaussian)
    assert bruit.privacy.epsilon(noise, delta=Fraction(1, 10**6), by="zcdp") <= 1


def law_of(cells: tuple[int, ...], probability: Fraction, size: int, rate: float) -> np.ndarray[Any, Any]:
    """The exponential mechanism over the grid, by its formula."""
    where = segments(np.sort(np.array(cells, np.int64)), 0, size - 1)
    losses = rank_losses(where, probability, len(cells))
    cell_losses = np.repeat(losses, where.length)
    weights = np.exp(-rate * cell_losses)
    return weights / weights.sum()


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize(("groups", "limit"), [(1, Limit(rows=2)), (2, Limit(rows=2)), (2, Limit(groups=2, each=1))])
def test_rows_of_one_person_move_the_law_of_quantiles_by_at_most_epsilon(
    neighbours: Any, groups: int, limit: Limit
) -> None:
    """A3, by brute force: every small person beside every other, each group's law by its formula, joined by product.

    A count nets rows that leave one group and come into it; ranks do not, and a price by the netted count would be
    passed almost twice.
    """
    size, probability, epsilon = 60, Fraction(1, 2), 1.0
    columns = {"id": whole(), "g": number(0, groups, grid=groups), "x": number(0, size - 1, grid=1)}
    table = open_table(pl.DataFrame({name: [0] for name in columns}), Schema("id", columns))
    keys = {} if groups == 1 else {"g": table["g"]}
    question = Question(table, {"q": quantiles(table["x"], [probability])}, keys, limit)
    assert question.groups == groups
    rows = list(product(range(groups), (0, size - 1)))
    fits = [p for n in range(3) for p in combinations_with_replacement(rows, n)]
    if limit.each == 1:
        fits = [p for p in fits if len({g for g, _ in p}) == len(p)]

    def worst_loss(person: Person) -> float:
        rate = epsilon / (2 * rank_sensitivity(probability, person))
        logs = []
        for own in fits:
            cells = [(*(x for g, x in own if g == group), 0, 0, 2, 2, size - 1, size - 1) for group in range(groups)]
            first, *rest = (law_of(held, probability, size, rate) for held in cells)
            logs.append(np.log(np.outer(first, rest[0]).reshape(-1) if rest else first))
        found = np.array(logs)
        return float(np.abs(found[:, None] - (found if neighbours is REPLACE_ONE else found[:1])[None]).max())

    person = moving_person(question, question.levels_asked[0], neighbours)
    assert 0.85 * epsilon < worst_loss(person) <= epsilon + 1e-9
    if neighbours is REPLACE_ONE:
        assert worst_loss(Person(2, exchanged=False, fixed_size=False)) > 1.5 * epsilon


def test_a_public_size_makes_a_mean_narrower_and_says_so() -> None:
    """A10: only under replacement of single rows that are all read."""
    table = opened(stays(), EACH_ROW)
    days = table["days"]
    ledger = bruit.Ledger("h", epsilon=99, neighbours=REPLACE_ONE, person=EACH_ROW)
    known = Question(table, {"m": mean(days)}, size=3000).release(budget=ledger.budget(epsilon=1))
    unknown = Question(table, {"m": mean(days)}).release(budget=ledger.budget(epsilon=1))
    assert float(known.noise[0]) < 0.6 * float(unknown.noise[0])
    assert "public size" in str(known.guarantee)
    assert "public size" not in str(unknown.guarantee)
    assert float(known.value[0]) == pytest.approx(stays()["days"].clip(0, 60).mean(), abs=0.5)
    bound = Question(table, {"m": mean(days)}, size=3000).sensitivity("m", REPLACE_ONE)
    assert (bound.l1, bound.linf) == (60, 60)


def test_a_size_that_a_replaced_row_could_change_is_refused() -> None:
    table, ledger = opened(stays(90), EACH_ROW), bruit.Ledger("h", epsilon=9, neighbours=REPLACE_ONE, person=EACH_ROW)
    days, other = table["days"], opened(stays(90))
    dropping = open_table(stays(90), Schema(EACH_ROW, COLUMNS | {"days": number(0, 60, grid=1)}))
    refused = [
        lambda: Question(table, {"n": count()}, size=90),
        lambda: Question(table, {"m": mean(days)}, size=0),
        lambda: Question(other, {"m": mean(other["days"])}, {}, Limit(rows=1), size=90),
        lambda: Question(table, {"m": mean(days)}, {"ward": table["ward"]}, size=90),
        lambda: Question(table.where(days > 3), {"m": mean(days)}, size=90),
        lambda: Question(table, {"m": mean(days + 1)}, size=90),
        lambda: Question(table.with_(days=days), {"m": mean(days)}, size=90),
        lambda: Question(dropping, {"m": mean(dropping["days"])}, size=90),
        lambda: Question(table, {"m": mean(days)}, size=90).release(
            budget=bruit.Ledger("a", epsilon=9, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW).budget(epsilon=1)
        ),
        lambda: Question(table, {"m": mean(days)}, size=90).release(
            budget=ledger.partition("p").budget("a", epsilon=1)
        ),
    ]
    for act in refused:
        with pytest.raises(bruit.errors.BruitError):
            act()  # type: ignore[no-untyped-call]
    assert ledger.spent.epsilon == 0


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_intervals_of_values_cover_quantiles_and_are_paid_for(neighbours: Any) -> None:
    frame = stays(1500)
    table = opened(frame, EACH_ROW)
    asked = Question(
        table, {"q": quantiles(table["days"], [0.5, 0.9], intervals=True)}, {"ward": table["ward"]}, confidence=0.8
    )
    ledger = bruit.Ledger("h", epsilon=99, neighbours=neighbours, person=EACH_ROW)
    prepared, rng = Prepared.of(asked, ledger.budget(epsilon=3)), np.random.default_rng(1)
    assert float(prepared.loss.epsilon) == 3  # type: ignore[attr-defined]
    exact, draws, hits = prepared.read(rng), 60, np.zeros(6)
    ordered = [np.sort(frame.filter(pl.col("ward") == ward)["days"].clip(0, 60).to_numpy()) for ward in "ABx"]
    least, most = (
        np.array([rows[int(share * len(rows)) + by] for rows in ordered for share in (0.5, 0.9)]) for by in (-1, 0)
    )
    for _ in range(draws):
        outcome = prepared.interpret(prepared.send(exact, rng))
        assert outcome.interval is not None
        assert (outcome.interval.low <= np.ravel(outcome.value)).all()
        assert (np.ravel(outcome.value) <= outcome.interval.high).all()
        hits += (outcome.interval.low <= most) & (least <= outcome.interval.high)
    assert all(stats.binomtest(int(each), draws, 0.8, alternative="less").pvalue > 1e-6 for each in hits)
    widths = np.asarray(outcome.interval.high - outcome.interval.low)
    assert (widths < 60).all()
    assert (widths > 0).any()


def test_an_interval_of_values_of_nobody_is_the_whole_range() -> None:
    table = opened(stays(30).clear(), EACH_ROW)
    ledger = bruit.Ledger("h", epsilon=99, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    asked = Question(table, {"q": quantiles(table["days"], [0.5], intervals=True)})
    interval = asked.release(budget=ledger.budget(epsilon=1)).interval
    assert interval is not None
    assert (interval.low.tolist(), interval.high.tolist()) == ([0.0], [60.0])


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_every_measure_in_every_kind_of_book_costs_no_more_than_its_price(neighbours: Any) -> None:
    table = opened(stays(300))
    days = table["days"]
    measures = {"n": count(), "s": total(days), "m": mean(days), "v": variance(days), "q": quantiles(days, [0.5])}
    for terms in ({"by": "basic", "failures": 0}, {}, {"by": ("rdp", 8)}):
        ledger = concentrated(neighbours, **terms)
        for limit, price in product(
            (Limit(rows=3), Limit(groups=2, each=2)), ({"epsilon": 1}, {"epsilon": 1, "delta": 1e-6})
        ):
            asked = Question(table, measures, {"ward": table["ward"]}, limit)
            release = asked.release(budget=ledger.budget(**price))
            assert release.guarantee.epsilon <= 1
            prepared = Prepared.of(asked, ledger.budget(**price))
            assert all(isinstance(each, PricedNoise | Fraction) for each in prepared.levels[0].bought.values())


def test_the_least_price_is_from_public_numbers_and_one_thousandth_less_is_too_wide() -> None:
    """A9: of a mean only with the public size of a small group; records decide nothing."""
    ledger = concentrated(by="basic", failures=0)
    prices = []
    for frame in (stays(300), stays(9), stays(9).clear()):
        table = opened(frame)
        asked = Question(
            table,
            {"n": count(), "m": mean(table["days"])},
            {"ward": table["ward"]},
            Limit(rows=2),
            levels=rollup("ward"),
        )
        prices.append(least_price(asked, ledger=ledger, within={"n": 20, "m": 2}, for_groups_of=500).epsilon)
    assert len(set(prices)) == 1
    widths = [
        half_widths(Prepared.of(asked, ledger.budget(epsilon=each)), {"n": 0, "m": 0}, 500)
        for each in (prices[0], prices[0] - Fraction(1, 1000))
    ]
    assert widths[0]["n"] <= 20
    assert widths[0]["m"] <= 2
    assert widths[1]["n"] > 20 or widths[1]["m"] > 2
    for words, act in {
        "state for_groups_of": lambda: least_price(asked, ledger=ledger, within=2),
        "even all of the book's epsilon": lambda: least_price(asked, ledger=ledger, within={"n": "0.001"}),
        "the measures are n, m": lambda: least_price(asked, ledger=ledger, within={"x": 1}),
        "is a quantile": lambda: least_price(
            Question(table, {"q": quantiles(table["days"], [0.5])}, {}, Limit(rows=1)), ledger=ledger, within=1
        ),
    }.items():
        with pytest.raises(InvalidArgument, match=words):
            act()  # type: ignore[no-untyped-call]
    assert ledger.spent.epsilon == 0


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_every_noise_is_made_for_the_sensitivity_of_its_measure_and_its_part_of_the_price(neighbours: Any) -> None:
    """Check 5, exactly: measure by relation, limit, noise and level; the samplers themselves are held to their laws."""
    table = opened(stays(60))
    days = table["days"]
    measures = {"n": count(), "who": people(), "s": total(days), "m": mean(days), "v": variance(days)}
    ledger = concentrated(neighbours, by="basic", failures=0)
    for limit, kind in product((Limit(rows=3), Limit(groups=2, each=2)), ("laplace", "gaussian")):
        asked = Question(table, measures, {"ward": table["ward"]}, limit, noise=kind, levels=rollup("ward"))
        prepared = Prepared.of(asked, ledger.budget(epsilon=5, delta=1e-6))
        for priced, name, bought in ((each, *pair) for each in prepared.levels for pair in each.bought.items()):
            assert isinstance(bought, PricedNoise)
            moved, loss = asked.sensitivity(name, neighbours, priced.level), bought.noise.loss
            if isinstance(loss, DiscreteLaplace):
                assert (loss.sensitivity, loss.sensitivity / loss.scale) == (moved.l1, Fraction(5, 10))
            else:
                assert (loss.squared_sensitivity, loss.entries) == (moved.l2_squared, moved.entries)
                assert (bought.loss.epsilon, bought.loss.delta) == (Fraction(1, 2), Fraction(1, 10**7))  # type: ignore[attr-defined]
        assert bruit.privacy.epsilon(prepared.loss, delta=Fraction(1, 10**6), by="basic") <= 5
