"""The gallery of attacks: an attack that works finds people, and a defence that is paid for keeps its bound."""

import numpy as np
import polars
import pytest

from bruit.apps import data
from bruit.apps.studies.attacks import counts, invented, linkage, mobility, models, study
from bruit.apps.studies.publishing import firefighters
from bruit.errors import MissingData


def test_the_invented_people_are_as_the_program_states() -> None:
    found = invented.ratings(400, 300, np.random.default_rng(1))
    assert (found.stars > 0).sum(axis=1).mean() == pytest.approx(invented.WATCHED, rel=0.1)
    assert set(np.unique(found.stars)) == set(range(invented.STARS + 1))
    where = invented.traces(50, np.random.default_rng(1))
    midnight = where[:, 0::24]
    assert (midnight == midnight[:, :1]).all()
    assert (where[:, 10] == where[:, 24 + 10]).all()


def test_more_ratings_name_more_people_and_none_wrongly() -> None:
    found = [
        [
            linkage.link_once(rng=np.random.default_rng(seed), people=500, known=known, coarse=False)
            for seed in range(30)
        ]
        for known in (1, 4)
    ]
    one, four = (np.mean([each["right"] for each in some]) for some in found)
    assert one < four
    assert four > 0.9
    assert all(each["named"] == each["right"] for each in found[1])


def test_coarser_places_leave_fewer_alone() -> None:
    alone = [
        np.mean(
            [
                mobility.match_once(rng=np.random.default_rng(seed), people=500, known=3, kilometres=km, hours=hours)[
                    "alone"
                ]
                for seed in range(40)
            ]
        )
        for km, hours in ((1, 1), (4, 6))
    ]
    assert alone[0] > alone[1]


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("cells", [1, 8])
def test_counts_tell_no_more_than_epsilon_allows(epsilon: float, cells: int) -> None:
    """With one cell the discrete Laplace law attains the bound that holds for every mechanism."""
    draws = 40_000
    found = counts.tell_member(rng=np.random.default_rng(1), epsilon=epsilon, cells=cells, draws=draws)
    slack = 6 / np.sqrt(draws)  # Dvoretzky, Kiefer and Wolfowitz: both shares, at 1e-15
    assert found["advantage"] == pytest.approx(found["exact"], abs=slack)
    assert found["exact"] <= found["bound"] * (1 + 1e-12)
    assert found["proved"] <= 1
    if cells == 1:
        assert found["exact"] == pytest.approx(found["bound"])
        assert found["proved"] > 0.8


def test_intervals_of_targets_are_those_of_a_binomial_chance() -> None:
    table = polars.DataFrame({"quantity": ["right"] * 2, "repeats": [400, 400], "mean": [1.0, 0.0]})
    low, high = study.exact_intervals(table.with_columns(low=polars.lit(1.0), high=polars.lit(1.0))).select(
        "low", "high"
    )
    assert low.to_list() == pytest.approx([0.025 ** (1 / 400), 0])  # all found: the chance of that is low to the 400th
    assert high.to_list() == pytest.approx([1, 1 - 0.025 ** (1 / 400)])


def test_six_answers_steal_a_model_of_six_weights() -> None:
    try:
        data.adult("all")
    except MissingData as reason:
        pytest.skip(str(reason))
    asked = {"queries": 12, "epsilon": 0.0, "rows": 1000}
    exact, coarse = (models.steal_once(rng=np.random.default_rng(2), digits=d, **asked)["agrees"] for d in (12, 1))
    assert exact > 0.999
    assert coarse < exact
    told = models.invert_once(rng=np.random.default_rng(2), epsilon=0.0, rows=1000)
    assert min(told["seen"], told["never seen"]) > told["guessing"]


def test_noise_costs_a_forecast_less_than_coarse_calls() -> None:
    error = {
        way: firefighters.forecast_once(rng=np.random.default_rng(1), way=way, level=level, calls=3000)["error"]
        for way, level in firefighters.ways("small")
    }
    assert error["exact"] <= error["noised counts"] < error["k-anonymous"] < error["mean of all"]
    assert error["synthetic"] < error["mean of all"]
    assert error["exact"] <= error[firefighters.ONLY_CELLS] < error["k-anonymous"]  # nobody is singled out by age
