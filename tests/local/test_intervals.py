"""Coverage summed exactly over the law of a count: no draw is made here."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from bruit.channels.support import Support
from bruit.errors import InvalidArgument
from bruit.local import KRR, OUE, ForcedYes, Tally, Warner
from bruit.local.estimation.intervals import Method, share_interval
from bruit.privacy import Covers

SHARES = np.linspace(0, 1, 201)
LAWS = [KRR(3, epsilon=1).support, OUE(100, epsilon=0.5).support, KRR(50, epsilon=3).support]


def intervals(
    people: int, support: Support, method: Method, covers: Covers
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = share_interval(np.arange(people + 1), people, support, confidence=0.95, method=method, covers=covers)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def population_coverage(people: int, support: Support, method: Method) -> NDArray[np.float64]:
    low, high = intervals(people, support, method, Covers.POPULATION)
    mass = stats.binom.pmf(np.arange(people + 1), people, support.mix(SHARES)[:, None])
    return np.asarray((mass * ((low <= SHARES[:, None]) & (SHARES[:, None] <= high))).sum(axis=1))


def table_coverage(people: int, support: Support, method: Method) -> NDArray[np.float64]:
    low, high = intervals(people, support, method, Covers.TABLE)
    covered = []
    for held in range(0, people + 1, max(1, people // 40)):
        mass = np.convolve(
            stats.binom.pmf(np.arange(held + 1), held, support.true),
            stats.binom.pmf(np.arange(people - held + 1), people - held, support.false),
        )
        share = held / people
        covered.append(mass[(low <= share + 1e-12) & (share - 1e-12 <= high)].sum())
    return np.array(covered)


@pytest.mark.parametrize("support", LAWS, ids=["KRR-3", "OUE", "KRR-50"])
@pytest.mark.parametrize("people", [1, 2, 10, 100, 1000])
def test_exact_intervals_never_cover_less_than_they_say(people: int, support: Support) -> None:
    assert population_coverage(people, support, "exact").min() >= 0.95
    assert table_coverage(people, support, "exact").min() >= 0.95


@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 8, 20])
@pytest.mark.parametrize("size", [2, 30])
def test_the_default_covers_in_small_and_extreme_surveys(size: int, epsilon: float) -> None:
    """Where shorter intervals fall to .80: few people, little noise. Every share of every small table is tried."""
    for protocol in (KRR(size, epsilon=epsilon), OUE(size, epsilon=epsilon)):
        for people in (1, 2, 3, 5, 8, 13, 20, 39):
            assert population_coverage(people, protocol.support, "exact").min() >= 0.95
            assert table_coverage(people, protocol.support, "exact").min() >= 0.95


def test_the_default_is_exact_and_the_others_say_that_they_are_approximate() -> None:
    protocol = KRR(2, epsilon=3)
    tally = Tally(protocol, 5, np.array([3, 2]))
    assert not protocol.estimate(tally).details["approximate"]
    low, high = intervals(5, protocol.support, "exact", Covers.POPULATION)
    found = protocol.estimate(tally).interval
    assert found is not None
    assert (found.low[0], found.high[0]) == (low[3], high[3])
    for method in ("wilson", "mid-p"):
        assert protocol.estimate(tally, method=method).details["approximate"]
    assert population_coverage(5, protocol.support, "wilson").min() < 0.95  # which is why it is not the default


def test_planning_is_the_width_of_the_default_interval() -> None:
    for protocol in (KRR(4, epsilon=1), OUE(50, epsilon=2), Warner(chance=0.2)):
        worst = np.atleast_1d(protocol.support.mix(protocol.support.worst_share()))
        counts = np.broadcast_to(np.round(1000 * worst), len(protocol.categories)).astype(int)
        details = protocol.estimate(Tally(protocol, 1000, counts)).details
        widths = (details["raw_high"] - details["raw_low"]) / 2
        assert widths.max() == pytest.approx(protocol.expected_error(1000), rel=2e-3)
        assert 1.96 * details["standard_error"].max() == pytest.approx(protocol.expected_error(1000), rel=0.05)


@pytest.mark.parametrize("support", LAWS, ids=["KRR-3", "OUE", "KRR-50"])
@pytest.mark.parametrize("people", [50, 200, 1000])
@pytest.mark.parametrize("method", ["wilson", "mid-p"])
def test_short_intervals_cover_95_percent_on_average(people: int, support: Support, method: Method) -> None:
    coverage = population_coverage(people, support, method)
    seen = support.mix(SHARES)
    enough = people * seen * (1 - seen) >= 5
    assert 0.945 <= coverage.mean() <= 0.965
    assert enough.any()
    assert coverage[enough].min() >= 0.92


@pytest.mark.parametrize("protocol", [KRR(2, epsilon=3), KRR(5, epsilon=8), KRR(50, epsilon=8), OUE(5, epsilon=8)])
@pytest.mark.parametrize("people", [25, 50, 100, 200])
@pytest.mark.parametrize("method", ["wilson", "mid-p"])
def test_short_intervals_hold_with_little_noise(protocol: KRR, people: int, method: Method) -> None:
    """Where n s (1 - s) >= 5, for the population and for this table, even when the noise hardly moves anybody."""
    held = np.arange(0, people + 1, max(1, people // 40)) / people
    for shares, covered in (
        (SHARES, population_coverage(people, protocol.support, method)),
        (held, table_coverage(people, protocol.support, method)),
    ):
        seen = protocol.support.mix(shares)
        enough = people * seen * (1 - seen) >= 5
        assert enough.any()
        assert covered[enough].min() >= 0.92


@pytest.mark.parametrize("support", LAWS, ids=["KRR-3", "OUE", "KRR-50"])
def test_the_score_interval_of_this_table_covers_and_is_shorter(support: Support) -> None:
    people = 1000
    coverage = table_coverage(people, support, "wilson")
    assert coverage.min() >= 0.92
    assert 0.94 <= coverage.mean() <= 0.975
    for_table = np.subtract(*intervals(people, support, "wilson", Covers.TABLE)[::-1])
    for_people = np.subtract(*intervals(people, support, "wilson", Covers.POPULATION)[::-1])
    assert for_table.mean() < for_people.mean()


def test_two_answers_still_have_an_interval() -> None:
    """The Wald interval fails at n = 2: both answers alike would give a width of zero."""
    protocol = KRR(2, epsilon=1)
    release = protocol.estimate(Tally(protocol, 2, np.array([2, 0])))
    assert release.interval is not None
    assert release.interval.high[0] - release.interval.low[0] > 0.5


def test_joint_intervals_are_bonferroni() -> None:
    protocol = KRR(4, epsilon=1)
    tally = Tally(protocol, 100, np.array([40, 30, 20, 10]))
    joint, single = protocol.estimate(tally, joint=True).interval, protocol.estimate(tally, 0.9875).interval
    assert joint is not None
    assert single is not None
    assert joint.joint
    assert joint.confidence == 0.95
    assert joint.low == pytest.approx(single.low)


def test_a_channel_that_mostly_lies_has_ordered_intervals() -> None:
    for protocol in (Warner(chance=0.2), ForcedYes()):
        for method in ("exact", "wilson", "mid-p"):
            for covers in (Covers.POPULATION, Covers.TABLE):
                interval = protocol.estimate(
                    Tally(protocol, 50, np.array([20, 30])), method=method, covers=covers
                ).interval
                assert interval is not None
                assert (interval.low <= interval.high).all()


def test_the_raw_interval_is_kept_beside_the_clipped_one() -> None:
    protocol = KRR(3, epsilon=1)
    release = protocol.estimate(Tally(protocol, 100, np.array([80, 10, 10])))
    assert release.details["raw_low"][1] < 0
    assert release.interval is not None
    assert release.interval.low[1] == 0
    assert release.value[1] == pytest.approx((0.1 - protocol.support.false) / protocol.support.gap)


@pytest.mark.parametrize("confidence", [0, 0.5, 1, 95, -1])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    protocol = KRR(3, epsilon=1)
    with pytest.raises(InvalidArgument, match="confidence"):
        protocol.estimate(Tally(protocol, 3, np.array([1, 1, 1])), confidence)


def test_unknown_methods_are_refused() -> None:
    protocol = KRR(3, epsilon=1)
    tally = Tally(protocol, 3, np.array([1, 1, 1]))
    with pytest.raises(InvalidArgument, match="method"):
        protocol.estimate(tally, method="wald")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="covers"):
        protocol.estimate(tally, covers=Covers.RANK)
    with pytest.raises(InvalidArgument, match="adjust"):
        protocol.estimate(tally, adjust="magic")  # type: ignore[arg-type]
