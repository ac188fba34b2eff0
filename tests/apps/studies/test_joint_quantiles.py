"""The enumeration of the joint quantiles: it runs, never passes ε, and would see it if the program did."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import polars
import pytest

from bruit.apps.studies.joint_quantiles import study
from bruit.central.ranks.mechanisms.joint import joint_plan


def test_the_study_enumerates_and_never_passes_epsilon(tmp_path: Path) -> None:
    found = study.run(tmp_path, size="small", rng=np.random.default_rng(1))
    table = polars.read_csv(tmp_path / "losses.csv")
    assert table["pairs"].sum() == found.figures["pairs"] > 200
    assert 0.8 < table["loss_over_epsilon"].max() <= 1
    assert found.files[1].read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("relation", list(study.PEOPLE))
def test_half_the_noise_is_seen(relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan made for twice the price passes it."""
    monkeypatch.setattr(
        study, "joint_plan", lambda p, cells, price, person, step: joint_plan(p, cells, 2 * price, person, step=step)
    )
    asked = {"relation": relation, "quantiles": "median", "epsilon": "3", "tables": "random", "size": "small"}
    assert study.enumerate_pairs(rng=np.random.default_rng(1), **asked)["loss_over_epsilon"] > 1


def test_neighbours_are_those_of_the_relation() -> None:
    made = {name: set(study.neighbours_of((1, 0, 2), person)) for name, person in study.PEOPLE.items()}
    assert made["add or remove one"] == {(2, 0, 2), (1, 1, 2), (1, 0, 3), (0, 0, 2), (1, 0, 1)}
    assert made["replace one"] == {(0, 1, 2), (0, 0, 3), (2, 0, 1), (1, 1, 1)}
    assert made["replace or drop one"] == made["add or remove one"] | made["replace one"]


def test_a_law_is_a_law() -> None:
    plan = joint_plan(study.QUANTILES["thirds"], study.CELLS, Fraction(1), study.PEOPLE["replace one"])
    assert plan is not None
    law = study.enumerate_law((3, 0, 4), plan)
    assert len(law) == 6
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
