"""What leaves with a fitted model: files and pickles without book, address, seed or rows, read anywhere."""

from __future__ import annotations

import inspect
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import bruit
from bruit import learning
from bruit.errors import BadFile, BudgetMissing, InvalidArgument, LedgerError
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.tables import among, within

RNG = np.random.default_rng(1)
X = np.column_stack([RNG.integers(0, 10, 60), RNG.integers(0, 3, 60)])
Y, NUMBERS = (X[:, 0] > 4).astype(int), X[:, 0] * 1.0
DOMAIN = [within(0, 10, grid=1, missing=5), among([0, 1])]
SECRET = "the-address-of-the-store"


def stored(folder: Path) -> bruit.Ledger:
    store = f"sqlite:///{folder / SECRET}.db"
    return bruit.Ledger("rows", epsilon=1000, delta=1e-2, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW, store=store)


def models() -> dict[str, Any]:
    labelled, few = {"domain": DOMAIN, "classes": [0, 1]}, {"max_depth": 2, "bins": 4}
    return {
        "NaiveBayes": learning.NaiveBayes(**labelled),
        "LogisticRegression": learning.LogisticRegression(**labelled),
        "LinearRegression": learning.LinearRegression(domain=DOMAIN, target=within(0, 10, grid=1)),
        "KMeans": learning.KMeans(2, domain=DOMAIN),
        "PCA": learning.PCA(1, domain=DOMAIN),
        "DecisionTree": learning.DecisionTree(**labelled, **few),
        "Forest": learning.Forest(**labelled, **few, n_estimators=3),
        "BoostedTrees": learning.BoostedTrees(**labelled, **few, n_estimators=3),
        "AdditiveModel": learning.AdditiveModel(**labelled, bins=4, steps=3),
        "Student": learning.Student(**labelled, public=X[:5], n_neighbors=3),
    }


def fitted(name: str, ledger: bruit.Ledger, data: Any = X) -> Any:
    model = models()[name].set_params(budget=ledger.budget(epsilon=1, delta=1e-6), random_state=765_432_101)
    return model.fit(data, NUMBERS if name == "LinearRegression" else Y)


def answers(model: Any, data: Any = X) -> Any:
    return (
        model.transform(data) if hasattr(model, "transform") and not hasattr(model, "predict") else model.predict(data)
    )


def test_every_estimator_that_may_leave_is_here() -> None:
    every = {name for name in learning.__all__ if "budget" in inspect.signature(getattr(learning, name)).parameters}
    assert every - set(models()) == {"NearestNeighbours", "PrivateSearch", "evaluate", "select"}


@pytest.mark.parametrize("name", models())
def test_a_saved_model_answers_alike_and_holds_no_book_seed_or_rows(name: str, tmp_path: Path) -> None:
    model = fitted(name, stored(tmp_path))
    again = learning.load(model.save(tmp_path / "model.bruit"))
    assert np.array_equal(answers(again), answers(model))
    assert again.guarantee_ == model.guarantee_
    assert again.release_.receipt == model.release_.receipt
    assert (again.budget, again.random_state) == (None, None)
    with zipfile.ZipFile(tmp_path / "model.bruit") as archive:
        held = b"".join(archive.read(each) for each in archive.namelist())
    for secret in (SECRET.encode(), b"sqlite", b"765432101", (765_432_101).to_bytes(4, "little")):
        assert secret not in held
        assert secret not in pickle.dumps(model)
    with pytest.raises(BudgetMissing):
        again.fit(X, Y)


LOADING = """
import joblib, json, os, sys, bruit
saved, dumped, rows = bruit.learning.load(sys.argv[1]), joblib.load(sys.argv[2]), json.loads(sys.argv[3])
first, second = (model.predict(rows).tolist() for model in (saved, dumped))
print(json.dumps([first, second, str(saved.guarantee_), saved.card_.promise, os.getuid()]))
"""


NOBODY: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []}


def somebody_else(bare: dict[str, Any]) -> dict[str, Any]:
    """Another user of this machine, where the tests may start one and that one may read Python and bruit."""
    try:
        tried = subprocess.run([sys.executable, "-c", "import bruit"], check=False, **bare, **NOBODY)
    except (PermissionError, OSError):
        return {}
    return NOBODY if tried.returncode == 0 else {}


def test_another_user_without_store_or_environment_loads_it(tmp_path: Path) -> None:
    """The store is gone, the folder is another, and nothing of the environment is left but where bruit is."""
    model = fitted("NaiveBayes", stored(tmp_path))
    (tmp_path / f"{SECRET}.db").unlink()
    source = str(Path(bruit.__file__).parents[1])
    rows = X[:9].tolist()
    with TemporaryDirectory() as elsewhere:
        Path(elsewhere).chmod(0o755)
        saved, dumped = (Path(elsewhere) / name for name in ("model.bruit", "model.joblib"))
        model.save(saved)
        joblib.dump(model, dumped)
        bare: dict[str, Any] = {"env": {"PYTHONPATH": source, "PATH": os.environ["PATH"]}, "cwd": elsewhere}
        told = subprocess.run(
            [sys.executable, "-c", LOADING, str(saved), str(dumped), json.dumps(rows)],
            capture_output=True,
            check=True,
            text=True,
            **bare,
            **somebody_else(bare),
        )
    first, second, guarantee, promise, who = json.loads(told.stdout)
    assert who == 65534 or os.getuid() == who
    assert first == second == model.predict(rows).tolist()
    assert guarantee == str(model.guarantee_)
    assert "times as likely" in promise


def test_a_pickled_search_holds_neither_the_seed_nor_the_book_of_its_estimator(tmp_path: Path) -> None:
    """From the seed of the estimator that it copies, the noise of the chosen model could be drawn again."""
    ledger = stored(tmp_path)
    template = models()["NaiveBayes"].set_params(random_state=765_432_101, budget=ledger.budget(epsilon=1))
    search = learning.PrivateSearch(template, {"rows_per_person": [1]}, budget=ledger.budget(epsilon=6), tries=1)
    search.set_params(random_state=765_432_101).fit(X, Y)
    for held in (pickle.dumps(search), pickle.dumps(search, 2), pickle.dumps(search.release_)):
        for secret in (SECRET.encode(), b"sqlite", b"765432101", (765_432_101).to_bytes(4, "little")):
            assert secret not in held
    again = pickle.loads(pickle.dumps(search))
    assert (again.estimator.random_state, again.estimator.budget) == (None, None)
    assert search.estimator is template
    assert np.array_equal(again.predict(X), search.predict(X))


def test_books_in_memory_and_pipelines_do_not_keep_a_fitted_model_here() -> None:
    ledger = bruit.Ledger("rows", epsilon=9, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    encoder = learning.DomainEncoder(domain=DOMAIN).fit(X)
    price = ledger.budget(epsilon=1)
    model = learning.LogisticRegression(domain=list(encoder.domain_out_), classes=[0, 1], budget=price)
    pipeline = make_pipeline(encoder, model).fit(X, Y)
    again = pickle.loads(pickle.dumps(pipeline))
    assert np.array_equal(again.predict(X), pipeline.predict(X))
    with pytest.raises(LedgerError, match="in the memory of this process"):
        pickle.dumps(clone(model))


def test_records_stay() -> None:
    ledger = bruit.Ledger("rows", epsilon=9, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    model = learning.NearestNeighbours(3, queries=5, domain=within(0, 10, grid=1), classes=[0, 1])
    model.set_params(budget=ledger.budget(epsilon=1)).fit(X, Y)
    with pytest.raises(LedgerError, match="holds the records"):
        model.save("nowhere.bruit")
    assert not Path("nowhere.bruit").exists()


def test_the_card_tells_what_is_public(tmp_path: Path) -> None:
    ledger = stored(tmp_path)
    frame = pandas.DataFrame(X, columns=["age", "ward"])
    model = fitted("NaiveBayes", ledger, frame)
    figures = learning.evaluate(model, frame, Y, budget=ledger.budget(epsilon=1))
    model.save(tmp_path / "model.bruit", intended_use="Beds per ward, not people.", figures=[figures])
    card = learning.load(tmp_path / "model.bruit").card_
    assert card == model.card(intended_use="Beds per ward, not people.", figures=[figures])
    assert card.columns == (("age", "from 0 to 10 by 1; missing: read as 5"), ("ward", "one of 0, 1; others together"))
    assert [each.name for each in card.figures] == ["accuracy", "auc", "log loss"]
    for words in (
        "at most 2.718 times as likely",
        "entry 1 of the book 'rows'",
        "Beds per ward",
        "| accuracy |",
        "seeded",
    ):
        assert words in card.text
    exact = models()["NaiveBayes"].set_params(budget=bruit.WITHOUT_PRIVACY).fit(X, Y).card()
    assert "Nothing is promised" in exact.text
    with pytest.raises(InvalidArgument, match="releases with intervals"):
        model.card(figures=[model.release_])


def test_a_file_runs_nothing_and_a_damaged_one_says_so(tmp_path: Path) -> None:
    path = fitted("NaiveBayes", stored(tmp_path)).save(tmp_path / "model.bruit")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    described = json.loads(members["model.json"])
    for change in ({"class": "Popen"}, {"format": 99}, {"state": {"kind": "record", "class": "Path", "fields": {}}}):
        with pytest.raises(BadFile):
            learning.load(rewritten(tmp_path, {**members, "model.json": json.dumps({**described, **change}).encode()}))
    held = io.BytesIO()
    np.save(held, np.array([object()]), allow_pickle=True)
    with pytest.raises(BadFile):
        learning.load(rewritten(tmp_path, {**members, "arrays/0.npy": held.getvalue()}))
    (tmp_path / "cut").write_bytes(path.read_bytes()[:100])
    with pytest.raises(BadFile, match="is no model"):
        learning.load(tmp_path / "cut")
    with pytest.raises(InvalidArgument, match="there is no file"):
        learning.load(tmp_path / "none")


def rewritten(folder: Path, members: dict[str, bytes]) -> Path:
    path = folder / "forged.bruit"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path
