"""One call whichever way the numbers were noised: a curator, a survey, a synthetic table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from laws import binomial_window

import bruit
from bruit import inference, local
from bruit.central.questions import Limit, Question, count
from bruit.errors import InvalidArgument
from bruit.inference.means import tail_of_mean, tail_of_relation
from bruit.inference.noise_laws import AddedNoise
from bruit.inference.sources import group_totals, value_totals
from bruit.ledger.books.kept_releases import release_from_json
from bruit.tables import among, within
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, category, whole

RNG = np.random.default_rng(3)
GROUP = np.repeat(["a", "b"], [600, 400])
AGE = np.clip(np.rint(RNG.normal(np.where(GROUP == "a", 5, 6), 2)), 0, 10)
PEOPLE = pl.DataFrame({"id": np.arange(1000), "group": GROUP, "age": AGE})
AGES = within(0, 10, grid=2)
TRUE_MEAN = 5.0
"""The mean of ages around the middle of their bounds."""


def book(**terms: object) -> bruit.Ledger:
    usual = {"epsilon": 100, "neighbours": bruit.ADD_OR_REMOVE_ONE, "person": bruit.EACH_ROW}
    return bruit.Ledger("inference", **{**usual, **terms})


@pytest.fixture(scope="module")
def people() -> bruit.tables.Table:
    return bruit.tables.read(PEOPLE, person=bruit.EACH_ROW)


def test_a_histogram_brings_its_counts_its_values_and_its_law(people: bruit.tables.Table) -> None:
    group, age = people["group"].among(["a", "b"]), people["age"].within(0, 10, grid=2)
    release = bruit.central.histogram(group, age, budget=book().budget(epsilon="0.5"))
    found = inference.cells(release)
    assert found.shape == (2, 6)  # what is OTHER is left out
    np.testing.assert_array_equal(found.values, release.value[:2])
    np.testing.assert_array_equal(found.axes[1].numbers, [0, 2, 4, 6, 8, 10])
    assert isinstance(law := found.blocks[0].law, AddedNoise)
    assert law.noise.loss.scale == 2
    assert found.guarantees == (release.guarantee,)


def test_a_release_that_was_kept_as_text_says_the_same(people: bruit.tables.Table) -> None:
    release = bruit.central.variance(people["age"].within(0, 10, grid=1), budget=book().budget(epsilon=1))
    again = release_from_json(release.to_json())
    assert inference.mean(again) == inference.mean(release)


@pytest.mark.parametrize("statistic", [bruit.central.mean, bruit.central.variance])
def test_a_mean_comes_from_the_sums_of_a_release(people: bruit.tables.Table, statistic: object) -> None:
    release = statistic(people["age"].within(0, 10, grid=1), budget=book().budget(epsilon=20))
    found = inference.mean(release)
    assert found.low < AGE.mean() < found.high
    assert found.value == pytest.approx(AGE.mean(), abs=0.02)
    width = 1.96 * AGE.std() / 1000**0.5
    if statistic is bruit.central.variance:  # a mean alone leaves the spread open, so its interval is wider
        assert (found.high - found.low) / 2 == pytest.approx(width, rel=0.05)
    else:
        assert (found.high - found.low) / 2 > 2 * width


def test_means_of_a_public_size_compare_two_groups() -> None:
    ledger = book(neighbours=bruit.REPLACE_ONE)
    parts = []
    for share in (0.3, 0.5):
        bits = pl.DataFrame({"yes": (np.arange(1000) < 1000 * share).astype(int)})
        column = bruit.tables.read(bits, person=bruit.EACH_ROW)["yes"].within(0, 1, grid=1, missing=0)
        parts.append(bruit.central.mean(column, size=1000, budget=ledger.budget(epsilon=10)))
    found = inference.difference(*parts)
    assert found.value == pytest.approx(-0.2, abs=0.01)
    assert found.high - found.low == pytest.approx(2 * 1.96 * (0.46 / 1000) ** 0.5, rel=0.03)
    assert inference.two_proportions(*parts).p_value < 1e-6
    assert value_totals(parts[0]).people == 1000


def test_a_question_by_group_is_a_table() -> None:
    schema = Schema("id", {"id": whole(), "group": category(["a", "b"], others="drop")})
    plan = open_table(PEOPLE.select("id", "group"), schema)
    release = Question(plan, {"n": count()}, {"group": plan["group"]}, Limit(rows=1)).release(
        budget=book(person="id").budget(epsilon=20)
    )
    found = inference.proportion(release, "a")
    assert found.low < 0.6 < found.high


def test_people_of_several_rows_are_no_sample(people: bruit.tables.Table) -> None:
    twice = bruit.tables.read(PEOPLE, person="id").limit(rows=2)
    release = bruit.central.histogram(twice["group"].among(["a", "b"]), budget=book(person="id").budget(epsilon=1))
    with pytest.raises(InvalidArgument, match="count once"):
        inference.proportion(release, "a")


@pytest.mark.parametrize("protocol", [local.KRR(["a", "b"], epsilon=2), local.OUE(["a", "b"], epsilon=2)])
def test_a_survey_is_read_with_its_channel(protocol: local.FrequencyProtocol) -> None:
    tally = protocol.tally(protocol.randomise(GROUP, rng=np.random.default_rng(1)))
    found, release = inference.proportion(tally, "a"), protocol.estimate(tally, method="wilson")
    assert found.value == pytest.approx(float(np.clip(release.value[0], 0, 1)))
    assert (found.low, found.high) == pytest.approx((release.interval.low[0], release.interval.high[0]), abs=1e-3)


def test_one_bit_a_person_gives_a_mean() -> None:
    protocol = local.OneBitMean(0, 10, grid=1, epsilon=2)
    tally = protocol.tally(protocol.randomise(AGE, rng=np.random.default_rng(1)))
    found, release = inference.mean(tally), protocol.estimate(tally, method="mid-p")
    assert (found.low, found.high) == pytest.approx((release.interval.low, release.interval.high), abs=0.03)


def test_groups_of_a_survey_are_compared() -> None:
    protocol, rng = local.KRR(["no", "yes"], epsilon=2), np.random.default_rng(4)
    tallies = [
        protocol.tally(protocol.randomise(rng.choice(["no", "yes"], 3000, p=[1 - p, p]), rng=rng)) for p in (0.3, 0.45)
    ]
    assert inference.two_proportions(*tallies, answer="yes").p_value < 0.01
    assert inference.independence(tallies).p_value < 0.01
    found = inference.difference(*tallies, answer="yes")
    assert found.low < -0.15 < found.high < 0


def test_a_synthetic_table_is_read_by_what_was_measured(people: bruit.tables.Table) -> None:
    columns = {"group": among(["a", "b"], drop_others=True), "age": AGES}
    ledger = book(delta="1e-4")
    release = bruit.synthetic.synthesise(people, columns, budget=ledger.budget(epsilon=3, delta="1e-5"))
    found = inference.cells(release.value, "group", "age")
    assert found.shape == (2, 6)
    assert np.abs(found.values.sum(1) - [600, 400]).max() < 60
    assert inference.mann_whitney(inference.cells(release, "group", "age")).p_value < 0.01
    flipped = inference.cells(release, "age", "group")
    np.testing.assert_allclose(flipped.values, found.values.T)


def test_what_a_synthesis_did_not_measure_is_not_tested(people: bruit.tables.Table) -> None:
    wide = pl.DataFrame({f"c{i}": np.arange(300) % 3 for i in range(6)})
    columns = {name: within(0, 2, grid=1) for name in wide.columns}
    made = bruit.synthetic.synthesise(
        bruit.tables.read(wide, person=bruit.EACH_ROW),
        columns,
        mode="tree",
        budget=book(delta="1e-4").budget(epsilon=1, delta="1e-5"),
    ).value
    pairs = {frozenset(one) for one in made.measured}
    missing = next(
        (a, b) for a in wide.columns for b in wide.columns if a < b and not any({a, b} <= one for one in pairs)
    )
    with pytest.raises(InvalidArgument, match="measured"):
        inference.cells(made, *missing)
    with pytest.raises(InvalidArgument, match="name columns"):
        inference.cells(made, "nowhere")


def test_categories_may_stand_for_numbers() -> None:
    tally = local.KRR(["low", "high"], epsilon=3).tally_of([400, 600], 1000)
    with pytest.raises(InvalidArgument, match="holds categories"):
        inference.mean(tally)
    found = inference.cells(tally, values={"answer": [1, 3]})
    assert 2.0 < inference.mean(found).value < 2.4
    for wrong in ({"answer": [1]}, {"elsewhere": [1, 2]}):
        with pytest.raises(InvalidArgument):
            inference.cells(tally, values=wrong)


@pytest.mark.parametrize(
    "source",
    [
        3,
        "histogram",
        [],
        local.SubsetSelection(["a", "b", "c", "d"], epsilon=1).empty(),
        local.KRR(["a", "b"], epsilon=1).empty(),
    ],
)
def test_what_is_no_source_is_refused(source: object) -> None:
    with pytest.raises(InvalidArgument):
        inference.independence(source)


def test_a_release_without_a_law_is_refused(people: bruit.tables.Table) -> None:
    column = people["age"].within(0, 10, grid=1)
    for release in (
        bruit.central.quantiles(column, [0.5], budget=book().budget(epsilon=1)),
        bruit.central.sum(column, budget=book().budget(epsilon=1)),
    ):
        with pytest.raises(InvalidArgument):
            inference.mean(release)


def test_intervals_from_a_survey_cover() -> None:
    protocol, rng, times = local.KRR(["no", "yes"], epsilon=1), np.random.default_rng(5), 400
    keep = float(protocol.support.mix(0.3)), float(protocol.support.mix(0.4))
    covered = 0
    for ones in rng.binomial(1000, keep, (times, 2)):
        tallies = [protocol.tally_of([1000 - one, one], 1000) for one in ones]
        totals = group_totals(tallies[0], tallies[1], "yes")
        covered += bool(tail_of_relation(totals, np.ones(1), np.array([-0.1]))[0] >= 0.05)
    low, high = binomial_window(times, 0.95, 1e-9)
    assert low <= covered <= high


def test_intervals_from_the_three_sums_of_a_variance_cover(people: bruit.tables.Table) -> None:
    release = bruit.central.variance(people["age"].within(0, 10, grid=1), budget=book().budget(epsilon="0.2"))
    totals, rng, times, covered = value_totals(release), np.random.default_rng(6), 400, 0
    for _ in range(times):
        places = np.clip(np.rint(rng.normal(5, 2, 500)), 0, 10) / 10
        sums = np.array([((1 - places) ** 2).sum(), (2 * places * (1 - places)).sum(), (places**2).sum()])
        noisy = sums + totals.block.law.rehearse((1, 3), rng)[0] * totals.block.law.unit  # type: ignore[attr-defined]
        again = replace(totals, block=replace(totals.block, values=noisy))
        covered += bool(tail_of_mean(again, np.array([TRUE_MEAN]))[0] >= 0.05)
    low, high = binomial_window(times, 0.95, 1e-9)
    assert low <= covered <= high


@pytest.mark.parametrize(("limit", "taken"), [({"groups": 3, "each": 1}, False), ({"groups": 1, "each": 1}, True)])
def test_people_who_count_in_several_groups_are_no_sample(limit: dict[str, int], taken: bool) -> None:
    table = bruit.tables.read(pl.DataFrame({"id": [1, 1, 2], "x": [0, 1, 2]}), person="id").limit(**limit)
    book = bruit.Ledger("people", epsilon=1, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id")
    release = bruit.central.histogram(table["x"].within(0, 10, grid=1), budget=book.budget(epsilon=1))
    if taken:
        assert inference.mean(release).interval.low < inference.mean(release).interval.high
    else:
        with pytest.raises(InvalidArgument, match="each must count once"):
            inference.mean(release)
