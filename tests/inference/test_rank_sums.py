"""The test by noisy rank sums: its null law against shuffled ranks, its level, and what it sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import bruit
from bruit import central, inference
from bruit.central.ranks.rank_sums import RankNoises, distance
from bruit.central.ranks.records import Person
from bruit.core import Release
from bruit.errors import InvalidArgument
from bruit.inference import rank_sums
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE

ASKED = {"rows": 1, "by": [{"name": "g", "domain": bruit.tables.among(["a", "b", "c"], drop_others=True).to_json()}]}


def counted(group: Any, values: Any, groups: int = 3) -> Any:
    places = np.unique(values, return_inverse=True)[1]
    counts = np.zeros((groups, places.max() + 1), np.int64)
    np.add.at(counts, (group, places), 1)
    return counts


def released(counts: Any, noises: RankNoises, rng: np.random.Generator) -> Release[Any]:
    guarantee = bruit.core.Guarantee(noises.epsilon, 0, noises.neighbours, EACH_ROW, "basic")
    return noises.interpret(noises.send(counts, 1, rng)[0], {"asked": ASKED}).release(guarantee)


def rejects(sizes: list[int], epsilon: str, *, public: bool, times: int, shift: float = 0, digits: int = 6) -> float:
    rng = np.random.default_rng(5)
    neighbours = REPLACE_ONE if public else ADD_OR_REMOVE_ONE
    noises = RankNoises(Person(1, public, public), neighbours, bruit.privacy.exactly(epsilon, "epsilon"))
    group = np.repeat(np.arange(3), sizes)
    found = []
    for _ in range(times):
        values = np.round(rng.normal(shift * group, 1.0), digits)
        found.append(inference.anova(released(counted(group, values), noises, rng)).p_value)
    return float(np.mean(np.array(found) <= 0.05))


@pytest.mark.parametrize(("rows", "clip", "groups"), [(9, 2, 3), (40, 20, 2), (301, 120, 4), (320, 900, 3)])
def test_alike_groups_have_the_law_of_shuffled_ranks(rows: int, clip: int, groups: int) -> None:
    rng = np.random.default_rng(1)
    drawn = rank_sums._alike(rows, clip, groups, rng)
    group = np.arange(rows) * groups // rows
    exact = [distance(counted(rng.permutation(group), np.arange(rows), groups), clip) for _ in range(400)]
    assert stats.ks_2samp(drawn, exact).pvalue > 1e-6


def test_the_tail_of_the_noise_is_its_sum() -> None:
    ratio, places = 0.8, np.arange(-400, 401)
    law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(places)
    for least in (-7, 0, 1, 12):
        assert rank_sums._tail(np.array([least]), ratio)[0] == pytest.approx(law[places >= least].sum())


def test_a_difference_is_seen_from_a_table() -> None:
    rng = np.random.default_rng(2)
    group = rng.choice(["a", "b", "c"], 600)
    frame = pl.DataFrame({"g": group, "x": rng.normal(np.where(group == "c", 6.0, 5.0), 1.0)})
    source = bruit.tables.read(frame, person=EACH_ROW)
    book = bruit.Ledger("groups", epsilon=10, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    values, by = source["x"].within(0, 10, grid="0.01", missing=5), source["g"].among(["a", "b", "c"])
    release = central.rank_sums(values, by, budget=book.budget(epsilon="0.5"), rng=rng)
    found = inference.anova(release)
    assert found.p_value < 0.01
    assert found == inference.anova(release)
    assert found.guarantees == (release.guarantee,)
    assert "rank sums: p = " in str(found)


def test_people_of_several_rows_are_refused() -> None:
    noises = RankNoises(Person(2, exchanged=False, fixed_size=False), ADD_OR_REMOVE_ONE, bruit.privacy.exactly(1, "e"))
    release = noises.interpret(np.array([3, 4]), {"asked": {**ASKED, "rows": 2}}).release(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="rows=1"):
        inference.anova(release)


@pytest.mark.stress
@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize(
    ("sizes", "digits"),
    [([22, 22, 21], 6), ([4, 3, 3], 6), ([150, 40, 10], 6), ([20, 20, 20], 0), ([500, 500, 500], 1)],
)
def test_alike_groups_are_rejected_no_more_than_it_says(
    sizes: list[int], digits: int, epsilon: str, public: bool
) -> None:
    share = rejects(sizes, epsilon, public=public, times=1500, digits=digits)
    assert stats.binom.sf(round(share * 1500) - 1, 1500, 0.05) > 1e-6
