"""The study of neighbours: noise costs accuracy, voters buy it back, and the document's noise costs twice its ε."""

from pathlib import Path

import numpy as np
import polars
import pytest

from bruit.apps import data
from bruit.apps.studies.knn import study, tables
from bruit.errors import MissingData
from bruit.tables import Within


@pytest.fixture(autouse=True)
def adult() -> None:
    try:
        data.adult("all")
    except MissingData as reason:
        pytest.skip(str(reason))


def test_the_study_writes_its_tables_and_figures(tmp_path: Path) -> None:
    found = study.run(tmp_path, size="small", rng=np.random.default_rng(1))
    table = polars.read_csv(tmp_path / "accuracy.csv")
    assert set(table["table"]) == set(study.TABLES)
    assert len(found.files) == 2 + 2 * len(study.TABLES)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in found.files if path.suffix == ".png")
    assert "2ε a question" in found.summary
    assert found.figures["digits k=31 ε=3 permute-and-flip"] > found.figures["digits k=5 ε=0.5 permute-and-flip"]


@pytest.mark.parametrize("name", ["wine", "digits", "breast cancer"])
def test_the_published_bounds_hold_every_record(name: str) -> None:
    task = tables.task(name, None)
    highest = [float(each.high) for each in task.domain if isinstance(each, Within)]
    assert (np.vstack([task.records, task.questions]) <= highest).all()
    assert len(task.domain) == task.records.shape[1]
    assert len(task.records) + len(task.questions) == {"wine": 178, "digits": 1797, "breast cancer": 569}[name]


def test_more_questions_are_paid_than_one_book_would_hold() -> None:
    votes = np.tile([0, 101], (2 * study.AT_ONCE + 1, 1))
    answers = study.each_paid(votes, "document", max(study.EPSILONS["full"]), np.random.default_rng(1))
    assert len(answers) == len(votes)
    assert answers.mean() > 0.99
