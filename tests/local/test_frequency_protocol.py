"""What every frequency protocol must do, whatever its law."""

import inspect
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_law, binomial_window

from bruit import local
from bruit.channels import ONE
from bruit.errors import BadFile, InvalidArgument, NotPrivate, OutOfDomain
from bruit.local import (
    BLH,
    KRR,
    LOLOHA,
    OLH,
    OUE,
    SUE,
    DBitFlip,
    ForcedYes,
    FrequencyProtocol,
    HadamardResponse,
    LongitudinalKRR,
    LongitudinalOUE,
    SubsetSelection,
    Tally,
    Warner,
    protocol_from_json,
    tally_from_json,
    two_coins,
)
from bruit.local.questionnaires.attributes import Faked
from bruit.privacy import LOCAL, Assumption


class Loud:
    """An answer that raises when it is looked up, and would tell what it is."""

    def __hash__(self) -> int:
        raise RuntimeError("zebra")


def _twice(kind: Callable[..., FrequencyProtocol]) -> Callable[..., FrequencyProtocol]:
    """A longitudinal protocol whose lasting loss is twice that of one report."""

    def make(categories: Any, *, epsilon: Any, other: bool = False) -> FrequencyProtocol:
        forever = 2 * (Fraction(repr(epsilon)) if isinstance(epsilon, float) else Fraction(epsilon))
        return kind(categories, epsilon=epsilon, forever=forever, other=other)

    make.__name__ = kind.__name__
    return make


def _two_buckets(categories: Any, *, epsilon: Any, other: bool = False) -> FrequencyProtocol:
    return DBitFlip(categories, epsilon=epsilon, chosen=2, other=other)


def _three_attributes(categories: Any, *, epsilon: Any, other: bool = False) -> FrequencyProtocol:
    return Faked(categories, epsilon=epsilon, attributes=3, other=other)


MAKERS: list[Callable[..., FrequencyProtocol]] = [KRR, SUE, OUE, OLH, BLH, HadamardResponse, SubsetSelection]
MAKERS += [_twice(LongitudinalKRR), _twice(LongitudinalOUE), _twice(LOLOHA)]
MAKERS += [_two_buckets, _three_attributes]
EXEMPT = {
    "Warner": "two fixed answers",
    "ForcedYes": "two fixed answers, and an infinite epsilon",
    "BasicRappor": "its noise is f, p and q, not an epsilon",
    "CountMeanSketch": "its supports follow the collisions of its hashes",
    "HadamardSketch": "its supports follow the collisions of its hashes",
}
"""Why a public kind cannot be made and judged like the others; each has tests of its own."""
PEOPLE = 65_536


def test_every_public_kind_is_in_the_list_or_exempt_by_name() -> None:
    public = {name: getattr(local, name) for name in local.__all__}
    kinds = {
        name
        for name, kind in public.items()
        if inspect.isclass(kind) and issubclass(kind, FrequencyProtocol) and not inspect.isabstract(kind)
    }
    made = {type(make(3, epsilon=1)).__name__ for make in MAKERS}
    assert kinds == (made - {"Faked"}) | set(EXEMPT)
    assert not made & set(EXEMPT)


@pytest.fixture(params=MAKERS, ids=lambda maker: maker.__name__)
def maker(request: pytest.FixtureRequest) -> Callable[..., FrequencyProtocol]:
    return request.param  # type: ignore[no-any-return]


@settings(max_examples=40)
@given(st.integers(2, 300), st.one_of(st.floats(0.01, 12), st.fractions(Fraction(1, 100), 12, max_denominator=10**6)))
def test_the_law_proves_the_epsilon_asked_for(size: int, epsilon: float | Fraction) -> None:
    for make in MAKERS:
        protocol = make(size, epsilon=epsilon)
        assert 0 < protocol.loss <= protocol.epsilon
        assert protocol.epsilon == (Fraction(repr(epsilon)) if isinstance(epsilon, float) else epsilon)
        assert protocol.loss > protocol.epsilon * Fraction(999, 1000)


def test_each_category_is_supported_as_the_law_says(maker: Callable[..., FrequencyProtocol]) -> None:
    """The support counts of people who all hold one answer are binomial, with the true and the false chance."""
    protocol = maker(5, epsilon=1)
    tally = protocol.tally(protocol.randomise(np.full(PEOPLE, 3), rng=np.random.default_rng(2)))
    for category, count in enumerate(tally.counts):
        chance = float(protocol.support.true if category == 3 else protocol.support.false)
        assert_law([count, PEOPLE - count], [chance, 1 - chance])


def test_estimates_of_a_mixed_crowd_are_unbiased(maker: Callable[..., FrequencyProtocol]) -> None:
    """One crowd of many: the sum of supports stays in the window of two binomial laws."""
    protocol = maker(["a", "b", "c"], epsilon=1.5)
    held = [PEOPLE // 2, PEOPLE // 4, PEOPLE // 4]
    tally = protocol.tally(
        protocol.randomise(["a"] * held[0] + ["b"] * held[1] + ["c"] * held[2], rng=np.random.default_rng(3))
    )
    for count, true in zip(tally.counts, held, strict=True):
        p, q = float(protocol.support.true), float(protocol.support.false)
        (low, high), (less, more) = binomial_window(true, p, 1e-10), binomial_window(PEOPLE - true, q, 1e-10)
        assert low + less <= count <= high + more


def test_the_variance_of_drawn_tallies_is_the_closed_form(maker: Callable[..., FrequencyProtocol]) -> None:
    protocol, rng, people = maker(4, epsilon=1), np.random.default_rng(4), 2000
    shares = np.array([0.5, 0.3, 0.2, 0.0])
    held = (people * shares).astype(int)
    p, q = protocol.support.true, protocol.support.false
    drawn = rng.binomial(held, p, (40_000, 4)) + rng.binomial(people - held, q, (40_000, 4))
    raw = protocol.support.unmix(drawn / people)
    assert raw.var(axis=0) == pytest.approx(protocol.support.noise_variance(shares, people), rel=0.05)
    window = 6.5 * np.sqrt(protocol.support.noise_variance(shares, people) / 40_000)
    assert (np.abs(raw.mean(axis=0) - shares) < window).all()


def test_the_variance_of_randomised_people_is_the_closed_form(maker: Callable[..., FrequencyProtocol]) -> None:
    """The tally that people really make has the law from which tallies are drawn: 400 crowds of 64 people."""
    protocol, rng = maker(3, epsilon=2), np.random.default_rng(5)
    held = np.repeat([0, 1, 1, 2], 16)
    counts = np.array([protocol.tally(protocol.randomise(held, rng=rng)).counts for _ in range(400)])
    expected = protocol.support.noise_variance([0.25, 0.5, 0.25], 64) * (64 * np.asarray(protocol.support.gap)) ** 2
    # 400 variances of near-normal counts scatter by sqrt(2 / 399) = 7 %; six of those are 43 %
    assert counts.var(axis=0) == pytest.approx(expected, rel=0.43)


def test_tallies_merge(maker: Callable[..., FrequencyProtocol]) -> None:
    protocol = maker(4, epsilon=1)
    reports = protocol.randomise(np.arange(1000) % 4, rng=np.random.default_rng(6)).values
    whole = protocol.tally(reports)
    assert protocol.empty() + protocol.tally(reports[:301]) + protocol.tally(reports[301:]) == whole
    assert sum(whole.counts) > 0


def test_tallies_of_two_protocols_do_not_merge(maker: Callable[..., FrequencyProtocol]) -> None:
    with pytest.raises(InvalidArgument, match="same protocol"):
        maker(4, epsilon=1).empty() + maker(4, epsilon=2).empty()


def test_a_protocol_and_its_tally_survive_their_json(maker: Callable[..., FrequencyProtocol]) -> None:
    protocol = maker(["x", "y"], epsilon=0.7, other=True)
    assert protocol_from_json(json.dumps(protocol.to_json())) == protocol
    tally = protocol.tally(protocol.randomise(["x", "z", "y"]))
    assert tally_from_json(json.loads(json.dumps(tally.to_json()))) == tally


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "9"},
        {"settings": {"epsilon": "9"}},
        {"law": {}},
        {"protocol": "Other"},
        {"categories": ["x"]},
        {"version": 99},
        {"other": None},
        {"settings": None},
    ],
)
def test_a_tampered_parameter_block_is_refused(maker: Callable[..., FrequencyProtocol], change: dict[str, Any]) -> None:
    with pytest.raises(BadFile):
        protocol_from_json({**maker(["x", "y"], epsilon=1).to_json(), **change})


def test_a_tampered_tally_is_refused(maker: Callable[..., FrequencyProtocol]) -> None:
    block = maker(3, epsilon=1).empty().to_json()
    for change in ({"counts": [1, 2]}, {"answers": -1}, {"counts": [-1, 0, 0]}, {"counts": "x"}, {"answers": None}):
        with pytest.raises(BadFile):
            tally_from_json({**block, **change})


@pytest.mark.parametrize("categories", [1, 0, [], ["a"], ["a", "a"], [1, "1"], "abc", True, [0.5, 1.5], [None, 1]])
def test_what_makes_no_survey_is_refused(maker: Callable[..., FrequencyProtocol], categories: object) -> None:
    with pytest.raises(OutOfDomain):
        maker(categories, epsilon=1)


@pytest.mark.parametrize("epsilon", [0, -1, 37, 1e6])
def test_an_absurd_epsilon_is_refused(maker: Callable[..., FrequencyProtocol], epsilon: float) -> None:
    with pytest.raises(InvalidArgument):
        maker(4, epsilon=epsilon)


@settings(max_examples=60)
@given(st.integers(2, 5000), st.integers(13, 17), st.integers(1, 99))
def test_an_epsilon_too_small_for_the_integers_is_refused_or_kept(size: int, digits: int, scale: int) -> None:
    """Rounding may turn the law of a tiny epsilon round: what then tells more than was asked must not be made."""
    epsilon = Fraction(scale, 10**digits)
    for make in MAKERS:
        try:
            protocol = make(size, epsilon=epsilon)
        except InvalidArgument as error:
            assert any(why in str(error) for why in ("too small", "say nothing", "more often"))  # noqa: PT017
            continue
        assert 0 < protocol.loss <= protocol.epsilon
        assert (np.asarray(protocol.support.gap) > 0).all()


def test_a_subset_that_would_lose_more_than_it_states_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="too small"):
        SubsetSelection(4, epsilon=Fraction(1, 10**16))


def test_rule_3_a_loss_above_epsilon_is_refused_without_asserts(monkeypatch: pytest.MonkeyPatch) -> None:
    """An assert vanishes under python -O; the refusal must not."""
    monkeypatch.setattr(SUE, "weights", (ONE - ONE // 8, ONE // 8))
    with pytest.raises(NotPrivate, match="more than epsilon"):
        SUE(3, epsilon=1)


def test_an_empty_survey_has_no_estimate(maker: Callable[..., FrequencyProtocol]) -> None:
    protocol = maker(3, epsilon=1)
    with pytest.raises(InvalidArgument, match="empty survey"):
        protocol.estimate(protocol.tally(protocol.randomise([])))


@pytest.mark.parametrize("method", ["exact", "wilson", "mid-p"])
def test_one_answer_is_enough_for_an_honest_interval(maker: Callable[..., FrequencyProtocol], method: str) -> None:
    protocol = maker(3, epsilon=1)
    release = protocol.estimate(protocol.tally(protocol.randomise([1])), method=method)  # type: ignore[arg-type]
    assert release.interval is not None
    assert ((release.interval.low >= 0) & (release.interval.high <= 1)).all()
    assert (release.interval.high - release.interval.low).max() > 0.9


def test_rule_2_an_answer_outside_the_domain_becomes_other(maker: Callable[..., FrequencyProtocol]) -> None:
    protocol = maker(["a", "b"], epsilon=1, other=True)
    assert protocol.categories.labels == ("a", "b", "OTHER")
    assert protocol.categories.indices(["a", "zebra", None, 3.5, [], "b"]).tolist() == [0, 2, 2, 2, 2, 1]


def test_an_answer_outside_the_domain_is_refused_without_being_named(maker: Callable[..., FrequencyProtocol]) -> None:
    protocol, said = maker(["a", "b"], epsilon=1), set()
    for answers in (["zebra"], ["a", "zebra"], ["zebra", "a"], ["a", None, [], Loud()], np.array(["x", "y", "z"])):  # type: ignore[var-annotated]
        with pytest.raises(InvalidArgument, match="not among") as raised:
            protocol.randomise(answers)
        assert raised.value.__cause__ is None
        said.add(str(raised.value))
    assert len(said) == 1  # neither the answer, nor which one of a batch, nor how many
    assert "zebra" not in said.pop()


def test_reports_no_respondent_sends_are_refused(maker: Callable[..., FrequencyProtocol]) -> None:
    protocol = maker(3, epsilon=1)
    good = protocol.randomise([0, 1, 2]).values
    for bad in (good.astype(float), np.full_like(good, np.iinfo(good.dtype).max), good[..., None]):
        with pytest.raises(InvalidArgument, match="report"):
            protocol.tally(bad)


def test_reports_of_another_protocol_are_refused(maker: Callable[..., FrequencyProtocol]) -> None:
    with pytest.raises(InvalidArgument, match="another protocol"):
        maker(3, epsilon=1).tally(maker(3, epsilon=2).randomise([0]))
    with pytest.raises(InvalidArgument, match="another protocol"):
        maker(3, epsilon=1).estimate(maker(3, epsilon=2).empty())


def test_the_guarantee_is_that_of_one_respondent(maker: Callable[..., FrequencyProtocol]) -> None:
    protocol = maker(3, epsilon=1)
    strong = protocol.estimate(protocol.tally(protocol.randomise([0, 1]))).guarantee
    lasting = getattr(protocol, "forever", 1)  # a longitudinal release promises what holds for all reports
    assert (strong.epsilon, strong.delta, strong.neighbours) == (lasting, 0, LOCAL)
    assert strong.person.startswith("one respondent")
    assert strong.assumes == ()
    seeded = protocol.estimate(protocol.tally(protocol.randomise([0, 1], rng=np.random.default_rng(1)))).guarantee
    assert seeded.assumes == (Assumption.SEEDED,)


def test_rule_8_the_same_answers_get_fresh_noise(maker: Callable[..., FrequencyProtocol]) -> None:
    protocol = maker(50, epsilon=0.5)
    values = np.zeros(200, np.int32)
    assert not np.array_equal(protocol.randomise(values).values, protocol.randomise(values).values)


@pytest.mark.parametrize(
    "read", [list, np.array, polars.Series, pandas.Series, lambda x: pandas.Series(x, dtype="category"), iter]
)
def test_answers_come_in_lists_arrays_and_series(read: Callable[[list[str]], object]) -> None:
    protocol = KRR(["a", "b", "c"], epsilon=1)
    assert protocol.categories.indices(read(["c", "a", "b"])).tolist() == [2, 0, 1]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [polars.String, polars.Categorical, polars.Enum(["a", "b", "zebra"])])
def test_texts_of_polars_are_read_with_others_and_missing_ones(kind: Any) -> None:
    protocol = KRR(["a", "b"], epsilon=1, other=True)
    column = polars.Series(["b", None, "zebra", "a"], dtype=kind)
    assert protocol.categories.indices(column).tolist() == [1, 2, 2, 0]
    assert protocol.categories.indices(column[:0]).tolist() == []
    assert protocol.categories.indices(np.array(["b", "", "zebra", "a"])).tolist() == [1, 2, 2, 0]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_numbered_answers_are_read_from_any_integer_type(kind: type) -> None:
    protocol = KRR(3, epsilon=1, other=True)
    assert protocol.categories.indices(np.array([0, 2, 3, 100], kind)).tolist() == [0, 2, 3, 3]
    assert protocol.categories.indices(np.array([], kind)).tolist() == []


def test_planning_agrees_with_itself(maker: Callable[..., FrequencyProtocol]) -> None:
    protocol = maker(10, epsilon=1)
    people = protocol.people_for(error=0.02)
    assert protocol.expected_error(people) <= 0.02 < protocol.expected_error(people - 1)
    epsilon = protocol.epsilon_for(error=0.02, people=people)
    assert epsilon == pytest.approx(1, abs=2e-4)


@pytest.mark.parametrize(("name", "value"), [("error", 0), ("error", 2), ("share", -1), ("confidence", 0.3)])
def test_planning_refuses_nonsense(name: str, value: float) -> None:
    with pytest.raises(InvalidArgument, match=name):
        KRR(3, epsilon=1).people_for(**{"error": 0.1, name: value})
    with pytest.raises(InvalidArgument, match="out of reach"):
        KRR(3, epsilon=1).epsilon_for(error=1e-6, people=10)


def test_warner_estimates_as_the_documents_say() -> None:
    tally = Tally(two_coins(), 1000, np.array([400, 600]))
    assert two_coins().estimate(tally).value[1] == pytest.approx(2 * 0.6 - 0.5)
    forced = Tally(ForcedYes(), 1000, np.array([400, 600]))
    assert ForcedYes().estimate(forced).value == pytest.approx([0.8, 2 * 0.6 - 1])
    asked = Warner(chance=0.7)
    assert asked.estimate(Tally(asked, 1000, np.array([400, 600]))).value[1] == pytest.approx((0.6 + 0.7 - 1) / 0.4)


def test_rule_2_no_answer_breaks_a_yes_or_no_question() -> None:
    assert two_coins().categories.indices([True, "yes", np.False_, "no"]).tolist() == [1, 1, 0, 0]
    for answers in ([True, [1, 2]], ["yes", None], [Loud()]):
        with pytest.raises(InvalidArgument, match="not among"):
            two_coins().randomise(answers)


def test_warner_has_the_epsilon_of_its_odds() -> None:
    assert float(two_coins().epsilon) == pytest.approx(math.log(3))
    for chance in (0.1, 0.3, 0.9):
        assert float(Warner(chance=chance).epsilon) == pytest.approx(abs(math.log(chance / (1 - chance))))
    assert Warner(epsilon=1).loss <= 1


@pytest.mark.parametrize("protocol", [two_coins(), Warner(chance=0.2), Warner(epsilon=1), ForcedYes()], ids=str)
def test_warner_reports_follow_the_truth_table(protocol: Warner | ForcedYes) -> None:
    for held in (False, True):
        reports = protocol.randomise(np.full(PEOPLE, held), rng=np.random.default_rng(7))
        assert_law(np.bincount(reports.values, minlength=2), protocol.channel.probabilities()[int(held)])
    assert protocol_from_json(json.dumps(protocol.to_json())) == protocol


def test_rule_9_forced_yes_says_that_its_epsilon_is_infinite() -> None:
    assert ForcedYes().epsilon == math.inf
    assert ForcedYes().loss == math.inf
    with pytest.raises(NotPrivate, match="teaching"):
        ForcedYes().privacy()
    assert two_coins().privacy().neighbours == LOCAL


@pytest.mark.parametrize(
    "arguments", [{}, {"chance": 0.5}, {"chance": 0}, {"chance": 1}, {"chance": 0.7, "epsilon": 1}]
)
def test_a_coin_that_says_nothing_or_everything_is_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument):
        Warner(**arguments)
