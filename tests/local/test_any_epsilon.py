"""Any epsilon, however huge or tiny and however written, makes a protocol that works or is refused with a sentence."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bruit import local
from bruit.core.numbers import exactly
from bruit.errors import InvalidArgument, NotPrivate

TINY_OR_HUGE = st.one_of(
    st.integers(-3999, 3999).map(lambda power: f"1e{power}"),
    st.sampled_from([5e-324, 1e308, "1e309", "1e999", 10**400, Fraction(1, 10**400), "1/3", 36.7, 37, 745, 10_001]),
    st.floats(5e-324, 1.7e308),
)
DELTAS = st.one_of(
    st.integers(0, 3999).map(lambda power: f"1e-{power}"),
    st.floats(5e-324, 1),
)
NAMES: list[Any] = ["a", "b", "c"]


def used(protocol: Any, answers: list[str]) -> Any:
    """Everything a survey does with a protocol."""
    tally = protocol.tally(protocol.randomise(answers, rng=np.random.default_rng(1)))
    protocol.estimate(tally)
    protocol.to_json()
    return protocol.privacy()


DOORS: dict[str, Any] = {
    kind.__name__: lambda e, kind=kind: used(kind(NAMES, epsilon=e), NAMES)
    for kind in (
        local.KRR,
        local.OUE,
        local.SUE,
        local.OLH,
        local.BLH,
        local.HadamardResponse,
        local.SubsetSelection,
        local.CountMeanSketch,
        local.HadamardSketch,
    )
} | {
    "DBitFlip": lambda e: used(local.DBitFlip(NAMES, epsilon=e, chosen=2), NAMES),
    "Warner": lambda e: used(local.Warner(epsilon=e), ["no", "yes"]),
    "OneBitMean": lambda e: used(local.OneBitMean(0, 10, grid=1, epsilon=e), [1, 2]),
    "PiecewiseMean": lambda e: used(local.PiecewiseMean(0, 10, grid=1, epsilon=e), [1, 2]),
    "PiecewiseMean, mixed": lambda e: used(local.PiecewiseMean(0, 10, grid=1, epsilon=e, mixed=True), [1, 2]),
    "LOLOHA": lambda e: local.LOLOHA(NAMES, epsilon=e, forever=5).privacy(),
    "LOLOHA, forever": lambda e: local.LOLOHA(NAMES, epsilon="0.5", forever=e).privacy(),
    "LongitudinalKRR": lambda e: local.LongitudinalKRR(NAMES, epsilon=e, forever=5).privacy(),
    "LongitudinalKRR, forever": lambda e: local.LongitudinalKRR(NAMES, epsilon="0.5", forever=e).privacy(),
    "LongitudinalOUE": lambda e: local.LongitudinalOUE(NAMES, epsilon=e, forever=5).privacy(),
    "LongitudinalOUE, forever": lambda e: local.LongitudinalOUE(NAMES, epsilon="0.5", forever=e).privacy(),
    "Attributes": lambda e: local.Attributes({"x": NAMES, "y": NAMES}, epsilon=e, how="sample").privacy(),
    "choose": lambda e: local.choose_protocol(NAMES, e, 100).protocol.privacy(),
    "choose_mean": lambda e: local.choose_mean(0, 10, e, 100, grid=1).protocol.privacy(),
}


@pytest.mark.parametrize("door", DOORS)
@settings(max_examples=20)
@given(TINY_OR_HUGE)
@example("1e999")
@example("1e-400")
def test_any_epsilon_makes_a_protocol_within_it_or_is_refused(door: str, epsilon: Any) -> None:
    try:
        loss = DOORS[door](epsilon)
    except InvalidArgument:
        usual = Fraction(1, 100) <= exactly(epsilon, "epsilon") <= 1
        assert not usual or door.endswith("forever")
    else:
        assert loss.epsilon > 0


@settings(max_examples=40)
@given(TINY_OR_HUGE, st.sampled_from([1, 100, 10_000]), DELTAS)
@example("1e999", 100, "1e-6")
@example("1e-400", 100, "1e-6")
@example(1, 100, "1e-400")
def test_any_shuffle_has_a_guarantee_or_is_refused(epsilon: Any, answers: int, delta: Any) -> None:
    try:
        found = local.shuffled(epsilon, answers, delta=delta)
    except (InvalidArgument, NotPrivate):
        assert exactly(delta, "delta") in (0, 1)
        return
    assert 0 <= found.epsilon <= exactly(epsilon, "epsilon")
