"""Walk 1: a survey answer, from the respondent to the estimate."""

import numpy as np

import bruit

ANSWERS = ["single", "married", "divorced"]
TRUTH = {"single": 0.3, "married": 0.55, "divorced": 0.15}
SIX_SIGMA = 6 / 1.96


def test_a_survey_answer_becomes_a_share_with_its_interval() -> None:
    answers = np.repeat(ANSWERS, [int(100_000 * TRUTH[answer]) for answer in ANSWERS])

    krr = bruit.local.KRR(ANSWERS, epsilon=1.0)
    reports = krr.randomise(answers, rng=np.random.default_rng(1))
    shares = krr.estimate(krr.tally(reports))

    assert shares.labels[:3] == tuple(ANSWERS)
    assert shares.guarantee.epsilon <= 1
    assert shares.guarantee.neighbours is bruit.LOCAL
    for label, value, low, high in shares.frame().select("label", "value", "low", "high").iter_rows():
        assert low <= value <= high
        assert abs(value - TRUTH.get(label, 0.0)) <= SIX_SIGMA * (high - low) / 2


def test_two_halves_of_a_survey_merge_into_the_whole() -> None:
    krr, rng = bruit.local.KRR(ANSWERS, epsilon=1.0), np.random.default_rng(1)
    north = krr.randomise(np.repeat(ANSWERS, 700), rng=rng)
    south = krr.randomise(np.repeat(ANSWERS, 300), rng=rng)

    merged = krr.estimate(krr.tally(north) + krr.tally(south))

    together = krr.tally(np.concatenate([north.values, south.values]))
    np.testing.assert_array_equal(merged.value, krr.estimate(together).value)
