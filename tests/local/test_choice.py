"""The advice given before anyone is asked."""

import pytest

from bruit.errors import InvalidArgument
from bruit.local import KRR, OLH, OneBitMean, PiecewiseMean, choose_mean, choose_protocol


def test_few_answers_or_much_epsilon_ask_for_krr() -> None:
    assert isinstance(choose_protocol(3, 1, 1000).protocol, KRR)
    assert isinstance(choose_protocol(50, 5, 1000).protocol, KRR)


def test_many_answers_ask_for_hashing() -> None:
    choice = choose_protocol(1000, 1, 10_000)
    assert isinstance(choice.protocol, OLH)
    assert "1000 answers" in choice.why


@pytest.mark.parametrize("size", [2, 5, 30, 200])
@pytest.mark.parametrize("epsilon", [0.2, 1, 3, 6])
def test_the_choice_is_within_two_percent_of_the_least_variance(size: int, epsilon: float) -> None:
    choice = choose_protocol([f"answer {i}" for i in range(size)], epsilon, 1000)
    assert choice.deviations[type(choice.protocol).__name__] ** 2 <= 1.02 * min(choice.deviations.values()) ** 2
    assert len(choice.protocol.categories) == size


def test_nobody_to_ask_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="people"):
        choose_protocol(3, 1, 0)
    with pytest.raises(InvalidArgument, match="people"):
        choose_mean(0, 1, 1, 0, grid=1)


@pytest.mark.parametrize("epsilon", [0.2, 1, 3, 6])
def test_the_protocol_for_a_mean_is_within_two_percent_of_the_least_variance(epsilon: float) -> None:
    choice = choose_mean(0, 100, epsilon, 1000, grid=1, missing=7)
    assert choice.protocol.variance() / 1000 <= 1.02 * min(choice.deviations.values()) ** 2
    assert choice.protocol.missing == 7
    assert "1000 people" in str(choice)
    assert isinstance(choice.protocol, OneBitMean if epsilon == 0.2 else PiecewiseMean)
