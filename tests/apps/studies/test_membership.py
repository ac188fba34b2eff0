"""The study of membership: an overfit network gives its members away, a private one keeps to its bound."""

import math
from pathlib import Path

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import special, stats

from bruit.apps import plots
from bruit.apps.findings import Findings
from bruit.apps.studies import STUDIES, load
from bruit.apps.studies.membership import study as membership
from bruit.apps.studies.membership.attacks import Trained, area, by_likelihood_ratio, by_loss, true_positives


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Findings]:
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    folder = tmp_path_factory.mktemp("membership")
    return folder, load("membership")(folder, size="small", rng=np.random.default_rng(1))


def test_the_study_writes_its_tables_and_its_figure(study: tuple[Path, Findings]) -> None:
    folder, found = study
    assert "membership" in STUDIES
    assert all(path.exists() for path in found.files)
    assert plots.available() == (folder / "membership.png").exists()
    assert polars.read_csv(folder / "repeats.csv").height == len(membership.EPSILONS) * membership.REPEATS["small"]


def test_networks_are_trained_on_one_thread_so_that_a_seed_repeats_them(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    trained, seen = membership._model, []

    def watched(*given: object, **settings: object) -> object:
        seen.append(torch.get_num_threads())
        return trained(*given, **settings)

    monkeypatch.setattr(membership, "_model", watched)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        membership.attack_once(rng=np.random.default_rng(1), size="small", epsilon=math.inf)
        assert (set(seen), torch.get_num_threads()) == ({1}, 2)
    finally:
        torch.set_num_threads(before)


def test_an_overfit_network_gives_its_members_away(study: tuple[Path, Findings]) -> None:
    _, found = study
    assert found.figures["without privacy: accuracy on members"] == 1.0
    assert found.figures["without privacy: likelihood ratio, area"] > 0.65
    assert found.figures["without privacy: likelihood ratio at 0.01"] > 0.04
    assert found.figures["without privacy: most at 0.01"] == 1.0


def test_private_networks_keep_to_what_the_guarantee_allows(study: tuple[Path, Findings]) -> None:
    folder, found = study
    table = polars.read_csv(folder / "membership.csv").filter(polars.col("bound").is_not_null())
    assert table.height == len(membership.EPSILONS) * len(membership.ATTACKS) * len(membership.FALSE_POSITIVES)
    private = table.filter(polars.col("epsilon").is_finite())
    assert private.filter(polars.col("low") > polars.col("bound")).is_empty()
    assert found.figures["epsilon 1: likelihood ratio, area"] < found.figures["without privacy: likelihood ratio, area"]


def test_the_bound_is_below_that_of_epsilon_and_delta_alone_and_above_guessing() -> None:
    for epsilon in (1.0, 8.0):
        most = np.array(membership.most_found("small", epsilon))
        assert (most <= np.minimum(np.exp(epsilon) * membership.FALSE_POSITIVES + membership.DELTA, 1) + 1e-12).all()
        assert (most > membership.FALSE_POSITIVES).all()
        assert (np.diff(most) >= 0).all()
    assert set(membership.most_found("small", math.inf)) == {1.0}


@given(scores=some.lists(some.integers(0, 5), min_size=4, max_size=40), seed=some.integers(0, 99))
def test_the_area_is_the_mann_whitney_statistic(scores: list[int], seed: int) -> None:
    scores = np.array(scores, float)  # type: ignore[assignment]
    included = np.random.default_rng(seed).random(len(scores)) < 0.5
    included[:2] = True, False
    others = np.count_nonzero(~included)
    oracle = stats.mannwhitneyu(scores[included], scores[~included]).statistic / (included.sum() * others)
    assert area(scores, included) == pytest.approx(oracle)


@given(scores=some.lists(some.integers(0, 5), min_size=4, max_size=40), seed=some.integers(0, 99))
def test_members_found_are_those_of_the_best_threshold(scores: list[int], seed: int) -> None:
    scores = np.array(scores, float)  # type: ignore[assignment]
    included = np.random.default_rng(seed).random(len(scores)) < 0.5
    included[:2] = True, False
    for allowed in (0.0, 0.1, 0.5, 1.0):
        best = 0.0
        for cut in [np.inf, *scores]:
            called = scores >= cut
            if called[~included].mean() <= allowed + 1e-12:
                best = max(best, called[included].mean())
        assert true_positives(scores, included, np.array([allowed]))[0] == pytest.approx(best)


def test_the_likelihood_ratio_finds_what_a_common_threshold_hides() -> None:
    """Records differ in how hard they are; being in lifts each by the same: only the ratio sees it."""
    rng = np.random.default_rng(2)
    included = rng.random((40, 2000)) < 0.5
    hard = rng.normal(0, 10, 2000)
    trained = Trained(hard + 2 * included + rng.normal(size=included.shape), included)
    ideal = special.ndtr(2 / math.sqrt(2))
    assert area(by_likelihood_ratio(trained), included) == pytest.approx(ideal, abs=0.02)
    assert area(by_loss(trained), included) < 0.6


def test_confidences_that_know_nothing_tell_nothing() -> None:
    rng = np.random.default_rng(3)
    included = rng.random((20, 3000)) < 0.5
    trained = Trained(rng.normal(size=included.shape), included)
    for attack in (by_loss, by_likelihood_ratio):
        members, others = included.sum(), (~included).sum()
        spread = math.sqrt((members + others + 1) / (12 * members * others))
        assert abs(area(attack(trained), included) - 0.5) < 6.2 * spread  # 1e-9


def test_a_record_that_was_always_in_is_left_undecided() -> None:
    included = np.array([[True, True], [True, False], [True, True]])
    scores = by_likelihood_ratio(Trained(np.arange(6.0).reshape(3, 2), included))
    assert (scores[:, 0] == 0).all()
