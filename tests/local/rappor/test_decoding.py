"""RAPPOR's decoding: its parts against plain NumPy, its laws, and what it finds."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law
from numpy.typing import NDArray
from scipy import stats

from bruit.errors import BadFile, InvalidArgument
from bruit.local import Rappor, decode, detection_limit, read_candidates
from bruit.local.frequencies import bits
from bruit.local.rappor import RapporTally, drawn_tally, lasso
from bruit.local.rappor._decoding_kernels import correlate, descend
from bruit.local.rappor.design import Design, design
from bruit.local.rappor.selection import cut
from bruit.local.rappor.shares import bits_of, least_squares
from bruit.privacy import LOCAL, Assumption

USUAL = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
SMALL = Rappor(bits=32, hashes=2, cohorts=4, f=0.25, p=0.2, q=0.9)
TEXTS = tuple(f"string {i}" for i in range(100))
EXPONENTIAL = np.exp(-np.arange(100) / 20) / np.exp(-np.arange(100) / 20).sum()


def dense(columns: Design) -> NDArray[np.float64]:
    matrix = np.zeros((columns.height, len(columns)))
    for number in range(len(columns)):
        matrix[columns.rows[columns.starts[number] : columns.starts[number + 1]], number] = 1
    return matrix


# ------------------------------------------------------------ the parts
@pytest.mark.parametrize("hashes", [1, 2, 5])
def test_a_column_holds_the_bits_that_its_text_sets(hashes: int) -> None:
    protocol = Rappor(bits=10, hashes=hashes, cohorts=3, f=0.5)
    columns = design(protocol, TEXTS[:20])
    matrix = dense(columns).reshape(3, 10, -1)
    for cohort in range(3):
        filters = protocol.filters(TEXTS[:20], np.full(20, cohort, np.int32))
        for number, packed in enumerate(filters):
            kept = [label for label in columns.labels if TEXTS[number] in label.split(" or ")]
            assert len(kept) == 1
            column = columns.labels.index(kept[0])
            assert matrix[cohort, :, column].tolist() == bits.ones(packed[None], 10).tolist()


def test_candidates_that_cannot_be_told_apart_share_a_label() -> None:
    protocol = Rappor(bits=2, hashes=1, cohorts=2, f=0.5)
    columns = design(protocol, ["a", "b", "a", "c", "d", "e", "f", "g", "h"])
    assert len(columns) <= 4
    assert sorted(text for label in columns.labels for text in label.split(" or ")) == list("abcdefgh")
    matrix = dense(columns)
    assert len({tuple(column) for column in matrix.T}) == len(columns)


def test_the_kernels_do_what_plain_numpy_does() -> None:
    rng = np.random.default_rng(1)
    columns = design(SMALL, TEXTS[:30])
    matrix, values = dense(columns), rng.normal(0.05, 0.1, columns.height)
    weights = rng.uniform(50, 200, columns.height)
    sums = np.empty(30)
    correlate(columns.starts, columns.rows, weights, sums)
    np.testing.assert_allclose(sums, matrix.T @ weights)
    penalties = 0.7 * np.sqrt(sums)
    shares, residual, background = np.zeros(30), values.copy(), np.zeros(1)
    descend(columns.starts, columns.rows, weights, sums, penalties, shares, residual, background, 1e-12, 10_000)
    np.testing.assert_allclose(residual, values - matrix @ shares - background[0], atol=1e-12)
    # The conditions of Karush, Kuhn and Tucker hold at the least of a convex function and nowhere else.
    slope = matrix.T @ (weights * residual) - penalties
    assert (shares >= 0).all()
    assert 0 < (shares > 0).sum() < 30
    np.testing.assert_allclose(slope[shares > 0], 0, atol=1e-7)
    assert (slope[shares == 0] <= 1e-7).all()
    assert (weights @ residual) * background[0] == pytest.approx(0, abs=1e-7)


def test_passes_are_bounded() -> None:
    columns = design(SMALL, TEXTS[:30])
    ones, shares = np.ones(columns.height), np.zeros(30)
    norms = columns.sums(ones)
    arguments = (norms, np.zeros(30), shares, np.linspace(0, 1, columns.height), np.zeros(1), 0.0, 7)
    assert descend(columns.starts, columns.rows, ones, *arguments) == 7


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0.01, 0.3))
def test_benjamini_and_hochberg_are_those_of_scipy(p_values: list[float], level: float) -> None:
    values = np.array(p_values)
    believed = values <= cut(values, level, "benjamini-hochberg")
    adjusted = stats.false_discovery_control(values, method="bh")
    clear = np.abs(adjusted - level) > 1e-12
    assert (believed == (adjusted <= level))[clear].all()
    strict = values <= cut(values, level, "bonferroni")
    assert (strict <= believed).all()
    by_hand = min(len(values), 2 * (1 + (values > 0.5).sum()))
    steps = np.minimum(level * np.arange(1, len(values) + 1) / by_hand, 0.5)
    reached = [step for step, value in zip(steps, sorted(values), strict=True) if value <= step]
    assert cut(values, level, "adaptive") == pytest.approx(reached[-1] if reached else steps[0])
    assert cut(values, level, "none") == 1


def test_s2_19_the_estimator_of_a_bit_is_the_documents() -> None:
    tally = drawn_tally(SMALL, TEXTS, EXPONENTIAL, 10_000, rng=np.random.default_rng(2))
    f, p, q = (float(part) for part in (SMALL.law.f, SMALL.law.p, SMALL.law.q))
    sizes = tally.people[:, None]
    document = (tally.counts - (p + f * q / 2 - f * p / 2) * sizes) / ((1 - f) * (q - p))
    np.testing.assert_allclose(bits_of(tally).shares, (document / sizes).ravel(), atol=1e-12)


def test_least_squares_are_those_of_numpy() -> None:
    tally = drawn_tally(SMALL, TEXTS[:10], np.full(10, 0.1), 10_000, rng=np.random.default_rng(3))
    columns, found = design(SMALL, TEXTS[:10]), bits_of(tally)
    expected = np.full(columns.height, 0.06)
    root = np.sqrt(1 / found.variance(expected))
    matrix = np.column_stack([dense(columns), np.ones(columns.height)])
    solution = np.linalg.lstsq(matrix * root[:, None], found.shares * root, rcond=None)[0]
    got = least_squares(columns, found, np.arange(10), expected)
    np.testing.assert_allclose(got.values, solution[:10], rtol=1e-8)


# ------------------------------------------------------------ laws
def test_a_drawn_tally_and_the_tally_of_people_follow_one_law() -> None:
    protocol, people, shares = Rappor(bits=12, hashes=2, cohorts=2, f=0.5, p=0.3, q=0.8), 65_536, [0.5, 0.3, 0.2]
    rng = np.random.default_rng(4)
    drawn = drawn_tally(protocol, TEXTS[:3], shares, people, rng=rng)
    values = [TEXTS[place] for place in rng.choice(3, people, p=shares)]
    sent = protocol.tally(protocol.randomise(values, rng=rng))
    setting = (dense(design(protocol, TEXTS[:3])) @ shares).reshape(2, 12)
    if_zero, if_one = protocol.law.report.probabilities()[:, 1]
    for tally in (drawn, sent):
        assert tally.seeded
        assert_law(tally.people, [0.5, 0.5])
        for cohort in range(2):
            for bit in range(12):
                chance = if_zero + (if_one - if_zero) * setting[cohort, bit]
                ones = tally.counts[cohort, bit]
                assert_law([ones, tally.people[cohort] - ones], [chance, 1 - chance])


def test_the_bits_of_a_drawn_tally_go_together_as_those_of_people_do() -> None:
    """Without noise the two bits of a text are counted equally often."""
    protocol = Rappor(bits=512, hashes=2, cohorts=2, f=0)
    tally = drawn_tally(protocol, TEXTS[:3], [0.5, 0.3, 0.2], 1000, rng=np.random.default_rng(5))
    columns = design(protocol, TEXTS[:3])
    for number in range(3):
        places = columns.rows[columns.starts[number] : columns.starts[number + 1]]
        counts = tally.counts.ravel()[places].reshape(2, -1)
        assert all(len(set(row.tolist())) == 1 for row in counts)


@pytest.mark.parametrize("noise", [{"f": 0.5, "p": 0.5, "q": 0.75}, {"f": 0.0, "p": 0.0, "q": 1.0}])
def test_standard_errors_are_the_dispersion_of_the_shares(noise: dict[str, float]) -> None:
    """Without noise a text's bits come together, and errors that took them for independent would be too small."""
    protocol, shares, draws = Rappor(bits=32, hashes=2, cohorts=4, **noise), np.array([0.6, 0.3, 0.1]), 400
    rng, columns = np.random.default_rng(6), design(protocol, TEXTS[:3])
    expected = dense(columns) @ shares
    found = [
        least_squares(
            columns, bits_of(drawn_tally(protocol, TEXTS[:3], shares, 20_000, rng=rng)), np.arange(3), expected
        )
        for _ in range(draws)
    ]
    values = np.array([one.values for one in found])
    claimed = np.mean([one.errors**2 for one in found], axis=0)
    low, high = stats.chi2.ppf([1e-9 / 6, 1 - 1e-9 / 6], draws - 1) / (draws - 1)  # type: ignore[misc]
    # The mean square of the residuals is never taken below one, which adds some to the claim.
    assert (values.var(axis=0, ddof=1) / claimed < high).all()
    assert (values.var(axis=0, ddof=1) / claimed > low / 1.3).all()
    away = np.abs(values.mean(axis=0) - shares) / np.sqrt(claimed / draws)
    assert (away < stats.norm.isf(1e-9 / 6)).all()


@pytest.mark.parametrize(("p", "q"), [(0.2, 0.8), (0.8, 0.2)])
def test_intervals_cover_what_they_say(p: float, q: float) -> None:
    protocol, shares, draws = Rappor(bits=64, hashes=2, cohorts=4, f=0.25, p=p, q=q), np.array([0.5, 0.3, 0.2]), 400
    rng, inside = np.random.default_rng(15), np.zeros(3, int)
    for _ in range(draws):
        release = decode(drawn_tally(protocol, TEXTS[:3], shares, 10_000, rng=rng), TEXTS[:8])
        assert release.interval is not None
        places = [release.labels.index(text) for text in TEXTS[:3]]
        inside += (release.interval.low[places] <= shares) & (shares <= release.interval.high[places])
    for count in inside:
        assert_law([count, draws - count], [0.95, 0.05])


def test_a_text_that_nobody_has_gets_a_uniform_p_value() -> None:
    rng, below = np.random.default_rng(7), np.zeros(3, int)
    for draw in range(400):
        texts = [f"{draw} {text}" for text in TEXTS[:20]]
        tally = drawn_tally(USUAL, texts, np.full(20, 0.05), 100_000, rng=rng)
        columns, found = design(USUAL, [*texts, "nobody"]), bits_of(tally)
        fit = lasso.fitted(columns, found.shares, found.weights, 0.05)
        p_value = stats.norm.sf(fit.scores(columns, found.weights)[-1])
        below[np.searchsorted([0.1, 0.5], p_value)] += 1
    assert_law(below, [0.1, 0.4, 0.5])


def test_a_text_at_the_detection_limit_is_found_as_often_as_it_says() -> None:
    rng, found, draws = np.random.default_rng(8), 0, 300
    limit = detection_limit(USUAL, people=200_000, candidates=50)
    others = [f"other {i}" for i in range(49)]
    shares = [limit, *np.full(20, (1 - limit) / 20)]
    for draw in range(draws):
        listed = [f"{draw} at the limit", *(f"{draw} {text}" for text in others)]
        tally = drawn_tally(USUAL, listed[:21], shares, 200_000, rng=rng)
        found += listed[0] in decode(tally, listed, select="bonferroni").labels
    assert_law([found, draws - found], [0.9, 0.1])


def exponential(candidates: int, seeds: range) -> NDArray[np.float64]:
    """True and false discoveries, their false share, and how many of the 32 above 1 % and 24 above 1.5 % were found."""
    listed = [*TEXTS, *(f"other {i}" for i in range(candidates - 100))]
    rows = []
    for seed in seeds:
        labels = decode(
            drawn_tally(USUAL, TEXTS, EXPONENTIAL, 1_000_000, rng=np.random.default_rng(seed)), listed
        ).labels
        true = len(set(labels) & set(TEXTS))
        big = [len(set(labels) & set(TEXTS[:size])) for size in (32, 24)]
        rows.append((true, len(labels) - true, (len(labels) - true) / len(labels), *big))
    return np.mean(rows, axis=0)


def test_s2_20_the_exponential_case_with_200_candidates() -> None:
    true, _, false_share, above_one, above_one_and_a_half = exponential(200, range(8, 24))
    assert true >= 45
    assert false_share <= 0.05
    assert above_one >= 31.5
    assert above_one_and_a_half == 24


def test_s2_20_the_exponential_case_with_1000_candidates() -> None:
    """Whoever knew all other shares would find 38.4 at two false ones: no count of bits holds more."""
    true, _, false_share, above_one, above_one_and_a_half = exponential(1000, range(8, 24))
    assert true >= 37.5
    assert false_share <= 0.05
    assert above_one >= 30.5
    assert above_one_and_a_half == 24


def test_frequent_texts_that_are_no_candidates_do_not_make_others_look_true() -> None:
    """Three texts hold half of the mass and are not asked about; who shares a bit or two with them is not found."""
    shares = np.arange(1, 101) ** -1.2 / (np.arange(1, 101) ** -1.2).sum()
    decoys = [f"other {i}" for i in range(900)]
    false = found = 0
    for seed in range(8):
        labels = decode(
            drawn_tally(USUAL, TEXTS, shares, 1_000_000, rng=np.random.default_rng(seed)), [*TEXTS[3:], *decoys]
        ).labels
        false, found = false + len(set(labels) & set(decoys)), found + len(set(labels) & set(TEXTS))
    assert found >= 20
    assert false <= 0.05 * found


# ------------------------------------------------------------ releases
def test_a_release_says_what_it_costs_and_what_it_cannot_find() -> None:
    tally = drawn_tally(USUAL, TEXTS[:4], [0.4, 0.3, 0.2, 0.1], 100_000, rng=np.random.default_rng(9))
    release = decode(tally, [*TEXTS[:3], "nobody has this"])
    assert release.labels == TEXTS[:3]
    assert release.guarantee.neighbours == LOCAL
    assert release.guarantee.epsilon == USUAL.law.forever
    assert release.guarantee.assumes == (Assumption.SEEDED,)
    told = json.loads(release.to_json())["details"]
    assert told["epsilon_once"] == pytest.approx(1.074, abs=1e-3)
    assert told["epsilon_forever"] == pytest.approx(4.394, abs=1e-3)
    assert (told["candidates"], told["found"], told["not_found"]) == (4, 3, 1)
    assert 0 < told["detection_limit"] < 0.1
    assert 0.02 < told["unexplained"] < 0.2
    assert release.interval is not None
    assert (release.interval.low <= release.value).all()
    assert (release.value <= release.interval.high).all()
    assert (np.asarray(release.noise) > 0).all()
    assert (np.diff(release.value) <= 0).all()


def test_rule_9_an_infinite_lasting_loss_is_said() -> None:
    protocol = Rappor(bits=64, hashes=2, cohorts=4, f=0, p=0.5, q=0.75)
    release = decode(drawn_tally(protocol, TEXTS[:2], [0.5, 0.5], 10_000, rng=np.random.default_rng(1)), TEXTS[:5])
    assert release.guarantee.epsilon == math.inf
    assert release.details["epsilon_forever"] == "inf"
    assert set(TEXTS[:2]) <= set(release.labels)


def test_the_documents_method_finds_less_and_is_surer() -> None:
    tally = drawn_tally(USUAL, TEXTS, EXPONENTIAL, 1_000_000, rng=np.random.default_rng(10))
    listed = [*TEXTS, *(f"other {i}" for i in range(100))]
    document = decode(tally, listed, method="least-squares", select="bonferroni")
    ours = decode(tally, listed)
    assert set(document.labels) <= set(TEXTS)
    assert 28 <= len(document.labels) < len(ours.labels)
    assert max(document.details["p_value"]) <= 0.05 / 200


def test_every_candidate_can_be_estimated() -> None:
    tally = drawn_tally(USUAL, TEXTS, EXPONENTIAL, 1_000_000, rng=np.random.default_rng(11))
    release = decode(tally, TEXTS, select="none")
    assert sorted(release.labels) == sorted(TEXTS)
    truth = dict(zip(TEXTS, EXPONENTIAL, strict=True))
    away = (release.value - [truth[label] for label in release.labels]) / release.details["standard_error"]
    assert np.abs(away).max() < stats.norm.isf(1e-9 / 200)
    with pytest.raises(InvalidArgument, match="cannot be told from"):
        decode(drawn_tally(SMALL, TEXTS, EXPONENTIAL, 1000, rng=np.random.default_rng(1)), range(500), select="none")


def test_respondents_who_report_often_widen_the_spread() -> None:
    """Memoised bits come back in every report: their noise does not average out, and the tests must know it."""
    protocol, rng = Rappor(bits=128, hashes=2, cohorts=8, f=0.5, p=0.25, q=0.9), np.random.default_rng(12)
    group = rng.integers(0, 8, 1000).astype(np.int32)
    memoised = protocol.memoise(protocol.filters([TEXTS[i % 5] for i in range(1000)], group), rng=rng)
    tally: RapporTally | None = None
    for _ in range(20):
        reports = protocol.respond(memoised, rng=rng)
        counts = protocol.tally(type(protocol.randomise(["a"], rng=rng))(protocol, group, reports))
        tally = counts if tally is None else tally + counts
    assert tally is not None
    listed = [*TEXTS[:5], *(f"other {i}" for i in range(500))]
    release = decode(tally, listed)
    assert release.details["spread"] > 2
    assert set(release.labels) == set(TEXTS[:5])


def test_a_cohort_without_reports_is_no_harm() -> None:
    reports = USUAL.randomise(
        [TEXTS[i % 2] for i in range(40_000)],
        rng=np.random.default_rng(13),
        cohorts=np.random.default_rng(14).integers(0, 9, 40_000),
    )
    release = decode(USUAL.tally(reports), TEXTS[:50])
    assert set(TEXTS[:2]) <= set(release.labels)
    assert release.value[:2] == pytest.approx([0.5, 0.5], abs=0.1)


# ------------------------------------------------------------ bad input
def test_an_empty_survey_and_an_empty_list_are_refused() -> None:
    empty = USUAL.tally(USUAL.randomise([]))
    with pytest.raises(InvalidArgument, match="empty survey"):
        decode(empty, TEXTS)
    tally = USUAL.tally(USUAL.randomise(["a"]))
    with pytest.raises(InvalidArgument, match="no candidates"):
        decode(tally, [])
    with pytest.raises(InvalidArgument, match="one text"):
        decode(tally, "page")
    assert decode(tally, TEXTS).details["detection_limit"] == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"level": 0}, "level"),
        ({"level": 0.7}, "level"),
        ({"confidence": 1}, "confidence"),
        ({"method": "guess"}, "method"),
        ({"select": "all"}, "select"),
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgument, match=told):
        decode(USUAL.tally(USUAL.randomise(["a"])), TEXTS, **change)


def test_questions_before_anyone_is_asked() -> None:
    limits = [detection_limit(USUAL, people=answers, candidates=1000) for answers in (10**4, 10**6, 10**8)]
    assert limits[0] / limits[1] == pytest.approx(10)
    assert limits[1] / limits[2] == pytest.approx(10)
    assert detection_limit(USUAL, people=10**6, candidates=1000, found=40) < limits[1]
    assert detection_limit(USUAL, people=1, candidates=10) == 1
    for wrong in ({"people": 0}, {"candidates": 0}, {"found": 0}, {"level": 1.0}):
        with pytest.raises(InvalidArgument):
            detection_limit(USUAL, **{"people": 10, "candidates": 10, **wrong})  # type: ignore[arg-type]
    for shares in ([0.5, 0.6], [1.5, -0.5], [1.0]):
        with pytest.raises(InvalidArgument, match="share"):
            drawn_tally(USUAL, TEXTS[:2], shares, 10)


def test_candidates_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pages.txt"
    path.write_text("one\n\n two \none\ncafé\n", encoding="utf-8")
    assert read_candidates(path) == ("one", "two", "café")
    for content in (b"", b"\n \n", b"\xff\xfe\x00"):
        path.write_bytes(content)
        with pytest.raises(BadFile, match=r"pages\.txt"):
            read_candidates(path)
    with pytest.raises(BadFile):
        read_candidates(tmp_path / "missing.txt")
