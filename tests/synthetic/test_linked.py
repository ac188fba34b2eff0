"""People and their visits: linked, bounded, and close to the true ones."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import bruit
from bruit.core import Neighbours
from bruit.errors import InvalidArgument, PrivacyError
from bruit.synthetic import synthesise_linked
from bruit.synthetic.fitting import finish_rows
from bruit.synthetic.gibbs import GibbsSampler
from bruit.synthetic.linked import visit_edges
from bruit.tables import among, read, within
from bruit.tables.schema import text

PEOPLE: dict[str, Any] = {"old": among(["yes", "no"]), "sex": among(["F", "M"])}
VISITS: dict[str, Any] = {"ward": among(["heart", "birth", "bones"]), "days": within(1, 5, grid=1, missing=1)}


def hospital(rows: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(0)
    old, sex = rng.random(rows) < 0.4, rng.choice(["F", "M"], rows)
    many = np.minimum(rng.poisson(1 + old), 5)
    whose = np.repeat(np.arange(rows), many)
    ward = np.where(old[whose] & (rng.random(len(whose)) < 0.7), "heart", rng.choice(["birth", "bones"], len(whose)))
    people = pl.DataFrame({"id": np.arange(rows), "old": np.where(old, "yes", "no"), "sex": sex})
    return people, pl.DataFrame({"id": whose, "ward": ward, "days": rng.integers(1, 6, len(whose))})


@pytest.mark.parametrize("neighbours", [bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE])
def test_visits_belong_to_people_and_follow_who_they_are(budget: Any, neighbours: Neighbours) -> None:
    people, visits = hospital(6000)
    price = budget(3, person="id", neighbours=neighbours)
    made = synthesise_linked(
        read(people, person="id"),
        read(visits, person="id").limit(rows=3),
        people_columns=PEOPLE,
        visit_columns=VISITS,
        budget=price,
        rng=np.random.default_rng(1),
    )
    assert 0.99 * 3 < price.ledger.spent.epsilon <= 3
    persons, stays = made.value.frames()
    owned = stays.group_by("person").len().join(persons, on="person")
    assert (owned["len"] == owned["visits"]).all()
    assert owned["len"].sum() == stays.height == persons["visits"].sum()
    assert persons["visits"].max() <= 3
    truth = np.bincount(np.minimum(np.bincount(visits["id"], minlength=6000), 3), minlength=4) / 6000
    found = np.bincount(persons["visits"], minlength=4) / len(persons)
    assert np.abs(truth - found).sum() / 2 < 0.05
    hearts = stays.join(persons, on="person").group_by("old").agg((pl.col("ward") == "heart").mean())
    shares = dict(hearts.iter_rows())
    assert shares["yes"] == pytest.approx(0.7, abs=0.1)
    assert shares["no"] == pytest.approx(0.0, abs=0.1)


def test_tables_that_are_not_linked_are_refused(budget: Any) -> None:
    people, visits = hospital(20)
    asked: dict[str, Any] = {"people_columns": PEOPLE, "visit_columns": VISITS}
    price = budget(1, person="id")
    with pytest.raises(PrivacyError, match="same person column"):
        synthesise_linked(
            read(people, person=bruit.EACH_ROW), read(visits, person="id").limit(rows=2), **asked, budget=price
        )
    with pytest.raises(InvalidArgument, match=r"\.limit\(rows"):
        synthesise_linked(read(people, person="id"), read(visits, person="id"), **asked, budget=price)
    assert price.ledger.entries == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"number": "old"},
        {"number": "ward"},
        {"number": "person"},
        {"people_columns": {"person": among(["yes", "no"])}},
        {"visit_columns": {"old": among(["yes", "no"])}},
        {"visit_columns": {"person": among(["yes", "no"])}},
    ],
)
def test_columns_of_one_name_are_refused_before_the_charge(budget: Any, wrong: dict[str, Any]) -> None:
    people, visits = (frame.with_columns(person=pl.lit("yes"), old=pl.lit("no")) for frame in hospital(20))
    asked: dict[str, Any] = {"people_columns": PEOPLE, "visit_columns": VISITS, **wrong}
    price = budget(1, person="id")
    with pytest.raises(InvalidArgument, match="different names"):
        synthesise_linked(read(people, person="id"), read(visits, person="id").limit(rows=2), **asked, budget=price)
    assert price.ledger.entries == ()


def test_people_who_are_named_in_two_ways_are_refused_before_the_charge(budget: Any) -> None:
    people, visits = hospital(200)
    texts = read(visits.with_columns(pl.col("id").cast(pl.String)), person="id").limit(rows=2)
    asked: dict[str, Any] = {"people_columns": PEOPLE, "visit_columns": VISITS, "budget": budget(20, person="id")}
    with pytest.raises(InvalidArgument, match="texts in one table and whole numbers in the other"):
        synthesise_linked(read(people, person="id"), texts, **asked)
    assert asked["budget"].ledger.entries == ()
    alike = synthesise_linked(read(people, person="id", named=text()), texts, **asked)
    assert alike.value.frames()[1].height == pytest.approx(visits.height, rel=0.3)


def test_noise_beyond_64_bits_is_refused_before_the_charge(budget: Any) -> None:
    people, visits = hospital(20)
    price = budget(1, person="id").ledger.budget(epsilon="1e-12", delta="1e-15")
    both = read(people, person="id"), read(visits, person="id").limit(rows=65536)
    with pytest.raises(InvalidArgument, match="beyond 64 bits"):
        synthesise_linked(*both, people_columns=PEOPLE, visit_columns=VISITS, budget=price)
    assert price.ledger.entries == ()


def test_cells_of_both_tables_can_be_stated(budget: Any) -> None:
    people, visits = hospital(300)
    both = read(people.with_columns(age=pl.lit(30)), person="id"), read(visits, person="id").limit(rows=2)
    columns: dict[str, Any] = {"people_columns": {"age": within(0, 99, grid=1, missing=0)}, "visit_columns": VISITS}
    price = budget(1, person="id")
    with pytest.raises(InvalidArgument, match="edges for height"):
        synthesise_linked(*both, **columns, edges={"height": [5]}, budget=price)
    assert price.ledger.entries == ()
    made = synthesise_linked(*both, **columns, edges={"age": [18, 65], "days": [4]}, budget=price).value
    firsts = {column.name: column.firsts for column in made.visits.columns}
    assert (firsts["age"], firsts["days"]) == ((0, 18, 65), (1, 4))


@pytest.mark.parametrize("most", [31, 40, 300])
def test_people_with_many_visits_are_counted_in_cells_that_grow(budget: Any, most: int) -> None:
    rng, rows = np.random.default_rng(3), 1500
    many = rng.integers(0, most + 1, rows) // 2
    whose = np.repeat(np.arange(rows), many)
    stays = pl.DataFrame({"id": whose, "ward": rng.choice(["heart", "bones"], len(whose))})
    made = synthesise_linked(
        read(pl.DataFrame({"id": np.arange(rows)}), person="id"),
        read(stays, person="id").limit(rows=most),
        people_columns={},
        visit_columns={"ward": among(["heart", "bones"])},
        budget=budget(2000, person="id"),
        rng=np.random.default_rng(4),
    ).value
    persons, visits = made.frames()
    counted = visits.group_by("person").len().join(persons, on="person")
    assert (counted["len"] == counted["visits"]).all()
    assert persons["visits"].sum() == visits.height
    found = np.quantile(persons["visits"], [0.1, 0.5, 0.9])
    assert found == pytest.approx(np.quantile(many, [0.1, 0.5, 0.9]), rel=0.1)


def test_cells_of_numbers_of_visits_are_single_numbers_and_then_grow_by_a_sixteenth() -> None:
    for most in (1, 31, 40, 300, 10_000):
        edges = visit_edges(most)
        widths = np.diff([*edges, most + 1])
        assert edges[:31] == list(range(1, most + 1))[:31]
        assert len(edges) < 256
        assert (widths <= np.maximum(1, np.array(edges) / 16)).all()


def test_people_without_any_visit_are_answered(budget: Any) -> None:
    people, visits = hospital(3000)
    made = synthesise_linked(
        read(people, person="id"),
        read(visits.head(0), person="id").limit(rows=2),
        people_columns=PEOPLE,
        visit_columns=VISITS,
        budget=budget(20, person="id"),
        rng=np.random.default_rng(2),
    ).value
    persons, stays = made.frames()
    assert stays.height == persons["visits"].sum() < 100
    nobody = replace(made.visits, fit=replace(made.visits.fit, rows=made.visits.rows[:0]))
    assert nobody.draw(10).height == 0
    finish_rows(GibbsSampler(np.array([2, 2]), (), state=1), np.empty((0, 2), np.uint8), 0.0, frozen=0)
