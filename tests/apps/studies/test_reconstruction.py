"""The study writes its tables and figures, and shows the threshold."""

from pathlib import Path

import numpy as np
import polars

from bruit.apps import plots
from bruit.apps.studies import STUDIES, load
from bruit.apps.studies.reconstruction import CURATORS, ask_everything


def test_s2_3_the_threshold_at_the_root_of_n(tmp_path: Path) -> None:
    found = load("reconstruction")(tmp_path, size="small", rng=np.random.default_rng(1))
    assert found.figures["recovered_at_a_quarter_root"] > 0.9
    assert found.figures["recovered_at_four_roots"] < 0.6
    assert "reconstruction" in STUDIES
    table = polars.read_csv(tmp_path / "threshold.csv")
    assert set(table["method"]) == {"least squares", "linear programming", "hadamard"}
    assert plots.available() == (tmp_path / "threshold.png").exists()
    assert all(path.exists() for path in found.files)


def test_s2_3_every_question_leaves_at_most_4e_bits_wrong() -> None:
    for seed in range(5):
        for curator in CURATORS:
            assert ask_everything(rng=np.random.default_rng(seed), curator=curator, people=8, error=1)["wrong"] <= 4
            assert ask_everything(rng=np.random.default_rng(seed), curator=curator, people=8, error=0)["wrong"] == 0


def test_a_curator_who_leans_hides_bits_within_the_same_error() -> None:
    wrong = [
        ask_everything(rng=np.random.default_rng(seed), curator=CURATORS[1], people=8, error=2)["wrong"]
        for seed in range(6)
    ]
    assert 2 <= np.mean(wrong) <= max(wrong) <= 8
    assert all(
        ask_everything(rng=np.random.default_rng(3), curator=CURATORS[0], people=8, error=e)["wrong"] <= 1
        for e in (1, 2)
    )
