"""Several questions to one person, and what the person pays in all."""

import math
from itertools import product

import numpy as np
import pytest

from bruit.errors import InvalidArgument
from bruit.local import Attributes
from bruit.local.questionnaires.attributes import Faked

QUESTIONS = {"smokes": ["no", "yes"], "age": 4, "vote": ["a", "b", "c"]}


@pytest.mark.parametrize("how", ["split", "sample", "fake"])
@pytest.mark.parametrize("epsilon", [0.3, 1, 4])
def test_one_person_never_pays_more_than_stated(how: str, epsilon: float) -> None:
    protocol = Attributes(QUESTIONS, epsilon=epsilon, how=how)  # type: ignore[arg-type]
    assert protocol.loss <= protocol.epsilon
    assert protocol.one_answer() <= protocol.loss
    assert protocol.privacy().epsilon == protocol.epsilon


def test_made_up_answers_cost_what_enumeration_says() -> None:
    """The published amplification holds towards somebody who knows the other answers, not for the whole person."""
    protocol = Attributes({"x": 2, "y": 3}, epsilon=1, how="fake")
    laws = [one.channel.probabilities() for _, one in protocol.protocols]  # type: ignore[attr-defined]

    def chance(held: tuple[int, int], seen: tuple[int, int]) -> float:
        return 0.5 * laws[0][held[0], seen[0]] / 3 + 0.5 * laws[1][held[1], seen[1]] / 2

    people = list(product(range(2), range(3)))
    ratios = {(x, z): max(chance(x, y) / chance(z, y) for y in people) for x in people for z in people}
    assert math.log(max(ratios.values())) == pytest.approx(float(protocol.loss))
    near = [ratio for (x, z), ratio in ratios.items() if (x[0] == z[0]) != (x[1] == z[1])]
    assert math.log(max(near)) == pytest.approx(float(protocol.one_answer()))
    assert protocol.one_answer() < protocol.loss


@pytest.mark.parametrize("how", ["split", "sample", "fake"])
def test_shares_of_every_attribute_come_out(how: str) -> None:
    rng, people = np.random.default_rng(1), 60_000
    table = {
        "smokes": np.array(["no", "yes"])[rng.integers(0, 2, people)],
        "age": np.full(people, 2),
        "vote": ["a", "b", "b"] * (people // 3),
    }
    protocol = Attributes(QUESTIONS, epsilon=2, how=how)  # type: ignore[arg-type]
    releases = protocol.estimate(protocol.tally(protocol.randomise(table, rng=rng)))
    truths = {"smokes": [0.5, 0.5], "age": [0, 0, 1, 0], "vote": [1 / 3, 2 / 3, 0]}
    for name, truth in truths.items():
        release = releases[name]
        assert (np.abs(release.value - truth) < 6.5 * release.details["standard_error"] + 1e-12).all()
        assert release.guarantee.epsilon == 2
        assert "all 3 answers" in release.guarantee.person
    asked = sum(release.details["answers"] for release in releases.values())
    assert asked == (people if how == "sample" else 3 * people)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="at least two"):
        Attributes({"x": 2}, epsilon=1, how="split")
    with pytest.raises(InvalidArgument, match="how"):
        Attributes(QUESTIONS, epsilon=1, how="guess")  # type: ignore[arg-type]
    protocol = Attributes({"x": 2, "y": 3}, epsilon=1, how="split")
    with pytest.raises(InvalidArgument, match="lacks"):
        protocol.randomise({"x": [1]})
    with pytest.raises(InvalidArgument, match="one answer for each"):
        protocol.randomise({"x": [1], "y": [1, 2]})
    assert Faked(3, epsilon=1, attributes=2) != Faked(3, epsilon=1, attributes=3)


@pytest.mark.parametrize("how", ["split", "sample", "fake"])
def test_planning_agrees_with_itself(how: str) -> None:
    protocol = Attributes(QUESTIONS, epsilon=1, how=how, other=True)  # type: ignore[arg-type]
    people = protocol.people_for(error=0.05)
    assert max(protocol.expected_error(people).values()) <= 0.05 < max(protocol.expected_error(people - 1).values())
    assert protocol.epsilon_for(error=0.05, people=people) == pytest.approx(1, abs=2e-4)
    assert protocol.at(1) == protocol
    with pytest.raises(InvalidArgument, match="error"):
        protocol.people_for(error=2)
