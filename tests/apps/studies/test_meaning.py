"""The studies of what ε means: beliefs, laws of noise, and trust."""

from pathlib import Path

import numpy as np
import polars
import pytest
from scipy import stats

from bruit.apps import data
from bruit.apps.studies import inference
from bruit.apps.studies.meaning import belief, economics, noise_laws, trust
from bruit.apps.studies.surveys import krr_regression
from bruit.errors import MissingData


def test_s2_5_every_cell_of_the_thesis_is_found_to_its_last_digit(tmp_path: Path) -> None:
    found = belief.run(tmp_path, size="small").figures
    assert found["cells"] == 88
    assert found["largest_difference_in_percentage_points"] <= 0.005 + 1e-9
    assert found["even_odds_after_two_coins"] == pytest.approx(found["most_that_two_coins_allow"], abs=1e-9) == 0.75


def test_s2_8_laplace_and_gauss_keep_their_promise(tmp_path: Path) -> None:
    found = noise_laws.run(tmp_path, size="small").figures
    assert found["largest_log_ratio"] == pytest.approx(noise_laws.EPSILON)
    assert found["least_deviation_of_gauss"] < found["deviation_by_the_thesis"]
    shift = 1 / found["least_deviation_of_gauss"]
    kept = stats.norm.cdf(shift / 2 - noise_laws.EPSILON / shift) - np.exp(noise_laws.EPSILON) * stats.norm.cdf(
        -shift / 2 - noise_laws.EPSILON / shift
    )
    assert kept == pytest.approx(noise_laws.DELTA, rel=1e-6)  # [Balle & Wang 2018, Theorem 5]


def test_s2_7_the_more_is_trusted_the_closer_the_answer(tmp_path: Path) -> None:
    try:
        data.adult("all")
    except MissingData as reason:
        pytest.skip(str(reason))
    found = trust.run(tmp_path, size="small", rng=np.random.default_rng(1)).figures
    assert found["error, curator"] < found["error, shuffler"] < found["error, nobody"]
    assert 1 < found["shuffled report"] <= trust.STRONGEST
    assert polars.read_csv(tmp_path / "trust.csv").height == 3


def test_intervals_for_the_population_hold_and_tests_rarely_cry_wolf(tmp_path: Path) -> None:
    findings = inference.run(tmp_path, size="small", rng=np.random.default_rng(1))
    covered, rejected = (polars.read_csv(path) for path in findings.files[:2])
    assert covered.height == 8 * 2 * 4
    assert rejected.height == 5 * 2 * 3
    draws = inference.SAMPLES["small"]
    pooled = round(covered["covered"].sum() * draws)  # 640 intervals that hold at least about 95 times in 100
    assert stats.binom.cdf(pooled, covered.height * draws, 0.94) > 1e-9
    assert pooled < covered.height * draws
    wolves = round(rejected["rejected"].sum() * draws)
    assert stats.binom.sf(wolves - 1, rejected.height * draws, 0.05) > 1e-9
    widths = covered.filter((polars.col("interval") == "mean") & (polars.col("people") == 200)).sort("epsilon")
    assert widths["median_width"].is_sorted(descending=True)


def test_regression_that_knows_the_coins_finds_what_the_true_answers_say() -> None:
    rng = np.random.default_rng(4)
    known = np.column_stack([np.ones(60_000), rng.normal(size=60_000)])
    weights = np.array([-0.5, 0.8])
    answers = rng.random(60_000) < 1 / (1 + np.exp(-known @ weights))
    reports = np.where(rng.random(60_000) < 0.75, answers, ~answers)
    aware, errors = krr_regression.fit(known, reports.astype(float), np.ones(60_000), 0.75, 0.25)
    naive, _ = krr_regression.fit(known, reports.astype(float), np.ones(60_000), 1.0, 0.0)
    assert (np.abs(aware - weights) < 6 * errors).all()
    assert abs(naive[1]) < 0.5 * weights[1]


def test_regression_without_a_channel_is_scikit_learns() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(5)
    known = np.column_stack([np.ones(800), rng.normal(size=800)])
    answers = rng.random(800) < 1 / (1 + np.exp(-known @ [0.2, 1.0]))
    theirs = LogisticRegression(C=1e9, fit_intercept=False, tol=1e-9).fit(known, answers).coef_[0]
    np.testing.assert_allclose(
        krr_regression.fit(known, answers.astype(float), np.ones(800), 1.0, 0.0)[0], theirs, atol=1e-4
    )


def test_the_least_number_of_people_is_the_least_that_is_accurate_enough(tmp_path: Path) -> None:
    floor = economics.sampled_people()
    assert economics.least_people(lambda people: 100 / people, floor) == max(floor, 4000)
    found = economics.run(tmp_path, size="small").figures
    assert found["a curator: least cost"] < found["nobody: least cost"]
