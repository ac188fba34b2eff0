"""Questions: one charge, one choice of rows, exact integers through one noise, and intervals that cover."""

from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hostile import TEXTS
from scipy import stats

import bruit
from bruit import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from bruit.central.questions import (
    Limit,
    Prepared,
    Question,
    RowRange,
    count,
    distinct,
    mean,
    non_missing,
    people,
    quantiles,
    sensitivity,
    total,
    variance,
)
from bruit.central.questions.noises import BudgetShare, buy, threshold, upper_tail
from bruit.central.questions.ratios import mean_estimate, mean_interval, share_widths, variance_estimate
from bruit.channels.integer_noise import IntegerNoise
from bruit.core.losses import DiscreteGaussian, DiscreteLaplace
from bruit.errors import BudgetExceeded, InvalidArgument, NotPrivate, PrivacyError
from bruit.tables.plan.operators import Plan, open_table
from bruit.tables.schema import Schema, category, found, number, text, whole

RELATIONS = [ADD_OR_REMOVE_ONE, REPLACE_ONE]
COLUMNS: dict[str, Any] = {
    "id": whole(),
    "ward": category(["A", "B"]),
    "days": number(0, 60, grid=1),
    "city": found(longest=10),
}
LIMITS = [Limit(rows=1), Limit(rows=3), Limit(groups=2, each=2)]


def stays(n: int = 3000, *, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": rng.integers(0, n // 3, n),
            "ward": rng.choice(["A", "B", "x"], n).tolist(),
            "days": rng.gamma(1.6, 2.9, n).round(),
            "city": rng.choice(["Lyon", "Nice", "Åre"], n, p=[0.6, 0.3, 0.1]).tolist(),
        }
    )


def opened(frame: Any, person: str = "id") -> Plan:
    return open_table(frame, Schema(person, COLUMNS, name="stays"))


def book(neighbours: Any = ADD_OR_REMOVE_ONE, *, person: str = "id", **terms: Any) -> Any:
    return bruit.Ledger("hospital", **({"epsilon": 9000, "delta": 0.1} | terms), neighbours=neighbours, person=person)


def everything(table: Plan) -> dict[str, Any]:
    days = table["days"]
    return {
        "n": count(),
        "known": non_missing(days),
        "kinds": distinct(days),
        "who": people(),
        "sum": total(days),
        "mean": mean(days),
        "var": variance(days),
        "q": quantiles(days, [0.25, 0.5, 0.75]),
    }


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("limit", [*LIMITS, None])
def test_a_constant_column_has_its_constant_as_mean_and_every_quantile(limit: Limit | None, neighbours: Any) -> None:
    """10 000 people with three stays of five days: the mean is five under every limit, the variance zero."""
    frame = pl.DataFrame({"id": np.repeat(np.arange(1000), 3), "ward": "A", "days": 5, "city": "Lyon"})
    person = EACH_ROW if limit is None else "id"
    table = opened(frame, person)
    days = table["days"]
    asked = {"mean": mean(days), "var": variance(days), "q": quantiles(days, [0.1, 0.5, 0.9])}
    release = Question(table, asked, {"ward": table["ward"]}, limit).release(
        budget=book(neighbours, person=person).budget(epsilon=9000), rng=np.random.default_rng(1)
    )
    assert release.value[0] == pytest.approx([5, 0, 5, 5, 5], abs=0.1)


@pytest.mark.parametrize("limit", [*LIMITS, None])
def test_almost_without_noise_every_measure_is_that_of_the_chosen_rows(limit: Limit | None) -> None:
    """Where no person passes the limit, the chosen rows are all rows."""
    person = EACH_ROW if limit is None else "id"
    rows = 1 if limit is None else limit.rows or limit.each or 1
    frame = stays(900).unique(["id", "ward"], maintain_order=True)
    frame = pl.concat([frame.group_by("id", maintain_order=True).head(1)] * (rows if limit and limit.rows else 1))
    table = opened(frame, person)
    release = Question(table, everything(table), {"ward": table["ward"]}, limit).release(
        budget=book(person=person).budget(epsilon=9000), rng=np.random.default_rng(1)
    )
    for place, ward in enumerate(["A", "B"]):
        own = frame.filter(pl.col("ward") == ward)
        days = own["days"].clip(0, 60)
        who = own.height if limit is None else own["id"].n_unique()
        expected = [own.height, days.count(), days.n_unique(), who, days.sum(), days.mean(), days.var(ddof=0)]
        assert release.value[place][:7] == pytest.approx(expected, abs=0.2)
        for q, p in zip(release.value[place][7:], (0.25, 0.5, 0.75), strict=True):
            assert days.quantile(p, "lower") - 1 <= q <= days.quantile(p, "higher") + 1
    assert release.labels[:2] == ("A / n", "A / known")
    assert release.details["groups"] == ["A", "B", "OTHER"]


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("keys", [(), ("ward",), ("city", "ward")])
def test_engines_give_the_same_integers_and_so_the_same_release(limit: Limit, keys: tuple[str, ...]) -> None:
    frame, texts = stays(), []
    for source in (frame, frame.to_arrow(), duckdb.connect().from_arrow(frame.to_arrow())):
        table = opened(source)
        asked = Question(table, everything(table), {key: table[key] for key in keys}, limit)
        release = asked.release(budget=book().budget(epsilon=20, delta=1e-3), rng=np.random.default_rng(3))
        texts.append(release.to_json())
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("limit", LIMITS)
def test_one_hostile_person_moves_every_integer_by_at_most_its_sensitivity(limit: Limit, neighbours: Any) -> None:
    """Rule 12: whatever a record holds. All hostile texts stand in every column of a CSV-like frame of texts."""
    columns: dict[str, Any] = COLUMNS | {"id": text()}
    base = stays(60).cast(pl.String)
    hostile = pl.DataFrame({"id": ["new"] * len(TEXTS), "ward": TEXTS, "days": TEXTS, "city": TEXTS})
    names = ["n", "known", "kinds", "who", "sum", "mean", "var"]

    def exact(frame: pl.DataFrame) -> dict[str, np.ndarray[Any, Any]]:
        table = open_table(frame, Schema("id", columns))
        asked = Question(table, {name: everything(table)[name] for name in names}, {"ward": table["ward"]}, limit)
        parts = iter(asked.reader.read(np.random.default_rng(2)).parts)
        return {name: np.stack([next(parts) for _ in asked.measures[name].parts]) for name in names}

    other = base.filter(pl.col("id") != base["id"][0])
    without = exact(base)
    withal = exact(pl.concat([base if neighbours is ADD_OR_REMOVE_ONE else other, hostile]))
    table = open_table(base, Schema("id", columns))
    asked = Question(table, everything(table), {"ward": table["ward"]}, limit)
    for name in names:
        moved = np.abs(withal[name] - without[name])
        bound = asked.sensitivity(name, neighbours)
        assert moved.sum() <= bound.l1
        assert (moved**2).sum() <= bound.l2_squared
        assert moved.max() <= bound.linf
        assert np.count_nonzero(moved) <= bound.entries


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("limit", LIMITS)
def test_an_empty_table_and_one_of_nobody_give_an_answer(limit: Limit, engine: str) -> None:
    frame = stays(30).cast(pl.String)
    columns: dict[str, Any] = COLUMNS | {"id": text()}
    for rows in (frame.clear(), frame.with_columns(id=pl.lit(None, pl.String))):
        source: Any = rows if engine == "polars" else duckdb.connect().from_arrow(rows.to_arrow())
        table = open_table(source, Schema("id", columns))
        for keys in ((), ("ward",), ("city", "ward")):
            asked = Question(table, everything(table), {key: table[key] for key in keys}, limit)
            release = asked.release(budget=book().budget(epsilon=9, delta=1e-4), rng=np.random.default_rng(1))
            assert len(release.labels) == np.size(release.value)


def test_a_charge_is_what_the_noise_costs_and_stands_before_anything_is_read() -> None:
    table, ledger = opened(stays()), book(epsilon=2, delta=1e-5)
    asked = Question(table, {"n": count(), "days": mean(table["days"])}, {"ward": table["ward"]}, Limit(rows=3))
    release = asked.release(budget=ledger.budget(epsilon=1))
    assert (release.guarantee.epsilon, release.guarantee.delta) == (1, 0)
    assert ledger.spent.epsilon == 1
    with pytest.raises(BudgetExceeded):
        asked.release(budget=ledger.budget(epsilon=1.5))
    assert ledger.spent.epsilon == 1


def test_what_is_refused_leaves_the_book_untouched() -> None:
    table, ledger = opened(stays(300)), book()
    days, price = table["days"], ledger.budget(epsilon=1)
    refused = [
        (lambda: Question(table, {}, {}, Limit(rows=1)), InvalidArgument),
        (lambda: Question(table, {"n": count()}), InvalidArgument),
        (lambda: Question(table, {"n": count()}, {}, Limit(rows=1), confidence=1.5), InvalidArgument),
        (lambda: Question(opened(stays(300), EACH_ROW), {"n": count()}, {}, Limit(rows=1)), InvalidArgument),
        (
            lambda: Question(table, {"c": count()}, {"c": table["city"]}, Limit(rows=1)).release(budget=price),
            NotPrivate,
        ),
        (
            lambda: Question(table, {"n": count()}, {}, Limit(rows=1), noise="normal").release(budget=price),
            InvalidArgument,
        ),
        (
            lambda: Question(table, {"n": count()}, {}, Limit(rows=1), noise="gaussian").release(budget=price),
            NotPrivate,
        ),
        (
            lambda: Question(table, {"n": count()}, {}, Limit(rows=1)).release(
                budget=book(person="x").budget(epsilon=1)
            ),
            PrivacyError,
        ),
        (lambda: quantiles(days, [1.5]), InvalidArgument),
        (lambda: total(table["ward"]), InvalidArgument),
        (lambda: table["id"], InvalidArgument),
        (lambda: table["colour"], InvalidArgument),
    ]
    for act, error in refused:
        with pytest.raises(error):
            act()  # type: ignore[no-untyped-call]
    assert ledger.spent.epsilon == 0


@pytest.mark.parametrize("k", [1, 3, 10, 30])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_group_of_one_person_is_shown_with_at_most_its_chance(k: int, kind: str) -> None:
    """By the exact law: none of k own groups reaches the threshold but with chance delta_2."""
    delta = Fraction(1, 10**6)
    moved = sensitivity(RowRange(0, 1, once=True), Limit(groups=k, each=1), groups=None, neighbours=ADD_OR_REMOVE_ONE)
    bought = threshold(moved, BudgetShare(Fraction(1), delta, ADD_OR_REMOVE_ONE), delta, groups=k, kind=kind)
    shown = -np.expm1(k * np.log1p(-upper_tail(bought.noise, bought.least - 1)))
    assert shown <= delta
    lower = -np.expm1(k * np.log1p(-upper_tail(bought.noise, bought.least - 2)))
    assert lower > delta / 20, "one lower would show them more often than the failure allows"
    limits = {"laplace": {1: 15, 3: 45, 10: 156, 30: 498}, "gaussian": {1: 23, 3: 41, 10: 76, 30: 135}}
    assert bought.least <= limits[kind][k]


def test_found_groups_are_shown_by_their_people_and_measured_alike() -> None:
    frame = pl.concat([stays(), pl.DataFrame({"id": [10**6], "ward": ["A"], "days": [60.0], "city": ["Secret"]})])
    table = opened(frame)
    asked = Question(
        table, {"n": count(), "who": people()}, {"city": table["city"], "ward": table["ward"]}, Limit(rows=3)
    )
    for seed in range(5):
        release = asked.release(budget=book().budget(epsilon=2, delta=1e-6), rng=np.random.default_rng(seed))
        assert not any("Secret" in label for label in release.labels)
        assert "Lyon / A / n" in release.labels
        assert all(shown >= release.details["threshold"] for shown in release.details["people"])
    assert release.guarantee.delta == Fraction(1, 10**6) / 2


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_gaussian_noise_is_taken_where_it_is_narrower_and_meets_its_price(neighbours: Any) -> None:
    price = BudgetShare(Fraction(1), Fraction(1, 10**6), neighbours)
    few = sensitivity(RowRange(0, 1), Limit(groups=2, each=1), groups=100, neighbours=neighbours)
    many = sensitivity(RowRange(0, 1), Limit(groups=64, each=1), groups=1000, neighbours=neighbours)
    assert isinstance(buy(few, price, confidence=0.95).noise.loss, DiscreteLaplace)
    taken = buy(many, price, confidence=0.95)
    assert isinstance(taken.noise.loss, DiscreteGaussian)
    assert taken.noise.half_width(0.95) <= (71 if neighbours is ADD_OR_REMOVE_ONE else 101)
    assert (taken.loss.epsilon, taken.loss.delta) == (1, Fraction(1, 10**6))  # type: ignore[attr-defined]
    spreads = many.spreads
    assert spreads is not None
    for spread in spreads:
        lost = bruit.core.losses.composed(
            (DiscreteGaussian(taken.noise.loss.variance, squared_sensitivity=by**2, neighbours=neighbours), times)
            for by, times in spread
        )
        assert bruit.privacy.delta(lost, epsilon=1, by="pld") <= Fraction(1, 10**6)


def covered(hits: int, draws: int, confidence: float) -> bool:
    return stats.binomtest(hits, draws, confidence, alternative="less").pvalue > 1e-6


NOISES = [
    DiscreteLaplace(40, sensitivity=40, neighbours=REPLACE_ONE),
    DiscreteLaplace(1, sensitivity=1, neighbours=REPLACE_ONE),
    DiscreteGaussian(900, squared_sensitivity=1, neighbours=REPLACE_ONE),
]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("above", "below"), [(0, 600), (300, 300), (50, 10), (20_000, 100_000), (3, 0)])
def test_the_interval_of_a_mean_covers_it_also_in_small_groups(noise: Any, above: int, below: int) -> None:
    channel, rng, draws = IntegerNoise(noise), np.random.default_rng(5), 4000
    ends = channel.send(np.repeat([[above], [below]], draws, axis=1), rng)
    low, high = mean_interval(*ends, channel, 0.95)  # type: ignore[call-arg]
    share = above / (above + below)
    assert covered(int(((low <= share + 1e-12) & (share - 1e-12 <= high)).sum()), draws, 0.95)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("rows", [0, 2, 20])
def test_no_value_lies_outside_its_own_interval(noise: Any, rows: int) -> None:
    """Where noise left fewer than no rows, the value is the nearest to the middle that the interval holds."""
    channel, rng, draws = IntegerNoise(noise), np.random.default_rng(6), 4000
    x = rng.integers(0, 7, rows)
    ends = channel.send(np.repeat([[x.sum()], [(6 - x).sum()]], draws, axis=1), rng)
    thirds = np.repeat([[((6 - x) ** 2).sum()], [(2 * x * (6 - x)).sum()], [(x * x).sum()]], draws, axis=1)
    for value, low, high in (
        mean_estimate(*ends, channel, 0.95),  # type: ignore[call-arg]
        variance_estimate(channel.send(thirds, rng), channel, 0.95),
    ):
        assert (low <= value).all()
        assert (value <= high).all()


def test_widths_of_a_share_are_those_of_the_drawn_noise() -> None:
    channel, rng = IntegerNoise(DiscreteLaplace(30, sensitivity=1, neighbours=REPLACE_ONE)), np.random.default_rng(2)
    one, other = channel.draw(200_000, rng=rng), channel.draw(200_000, rng=rng)
    for place in (0, 300, 700, 1024):
        share, width = place / 2048, share_widths(channel, 0.9)[place]
        inside = int((np.abs((1 - share) * one - share * other) <= width).sum())
        assert stats.binomtest(inside, 200_000, 0.9).proportion_ci(1 - 1e-6).low < 0.93
        assert covered(inside, 200_000, 0.9)


def test_intervals_of_a_question_cover_counts_sums_means_and_variances() -> None:
    table = opened(stays(900), EACH_ROW)
    asked = Question(table, {n: m for n, m in everything(table).items() if n != "q"}, {"ward": table["ward"]})
    prepared = Prepared.of(asked, book(person=EACH_ROW).budget(epsilon=2))
    exact, rng, draws = prepared.read(np.random.default_rng(1)), np.random.default_rng(4), 400
    almost_exact = Prepared.of(asked, book(person=EACH_ROW).budget(epsilon=9000))
    truth = np.asarray(almost_exact.interpret(almost_exact.send(exact, rng)).value).reshape(-1)
    hits = np.zeros(truth.size)
    for _ in range(draws):
        interval = prepared.interpret(prepared.send(exact, rng)).interval
        assert interval is not None
        hits += (interval.low <= truth + 1e-9) & (truth - 1e-9 <= interval.high)
    assert all(covered(int(each), draws, 0.95) for each in hits)


def test_the_mean_is_narrower_than_a_split_between_a_sum_and_a_count() -> None:
    """Two ends at epsilon against centred sum and count at half of it each: at least 1.35 times the error."""
    rng, n, width, epsilon = np.random.default_rng(3), 2000, 100, Fraction(1, 2)
    x = np.clip(rng.normal(50, 10, n).round(), 0, width)
    ends = np.array([x.sum(), (width - x).sum()]).astype(int)
    draws = 20_000
    own = IntegerNoise.laplace(epsilon, sensitivity=width, neighbours=ADD_OR_REMOVE_ONE)
    above, below = (end + own.draw(draws, rng=rng) for end in ends)
    split = [IntegerNoise.laplace(epsilon / 2, sensitivity=s, neighbours=ADD_OR_REMOVE_ONE) for s in (width // 2, 1)]
    centred = (x - 50).sum() + split[0].draw(draws, rng=rng)
    ours, theirs = width * above / (above + below), 50 + centred / (n + split[1].draw(draws, rng=rng))
    assert np.std(theirs) / np.std(ours) > 1.35


def test_the_variance_is_narrower_than_a_split_between_squares_a_sum_and_a_count() -> None:
    """Three ends at epsilon against centred squares, sum and count at a third of it each: 1.7 times the error."""
    rng, n, width, epsilon, draws = np.random.default_rng(3), 2000, 100, Fraction(1, 2), 20_000
    x = np.clip(rng.normal(50, 10, n).round(), 0, width).astype(int)
    below, above = width - x, x

    def variance(low: Any, middle: Any, high: Any) -> Any:
        whole = low + middle + high
        return width**2 * (high / whole - ((high + middle / 2) / whole) ** 2)

    own = IntegerNoise.laplace(epsilon, sensitivity=width**2, neighbours=ADD_OR_REMOVE_ONE)
    ends = [(below**2).sum(), (2 * below * above).sum(), (above**2).sum()]
    low, middle, high = (int(end) + own.draw(draws, rng=rng) for end in ends)
    ours = variance(low, middle, high)
    assert variance(*ends) == pytest.approx(x.var())
    half, centred = width // 2, x - 50
    squares, total, number = (
        int(part)
        + IntegerNoise.laplace(epsilon / 3, sensitivity=most, neighbours=ADD_OR_REMOVE_ONE).draw(draws, rng=rng)
        for part, most in (((centred**2).sum(), half**2), (centred.sum(), half), (n, 1))
    )
    theirs = squares / number - (total / number) ** 2
    assert np.std(theirs) / np.std(ours) > 1.7


def test_the_same_question_has_the_same_digest_and_words() -> None:
    table = opened(stays(300))
    asked = [Question(table, {"n": count()}, {"w": table["ward"]}, Limit(rows=rows)) for rows in (3, 3, 2)]
    assert asked[0].digest == asked[1].digest != asked[2].digest
    assert asked[0].words == "rows of stays by ward, of at most 3 rows of each person, chosen at random"
    preview = Prepared.of(asked[0], book().budget(epsilon=1)).preview()
    assert preview.rows() == [("n", "rows", "DiscreteLaplace", 9)]
