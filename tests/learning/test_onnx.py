"""Linear models as ONNX graphs, run by another runtime: the same answers for any value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import bruit
from bruit import learning
from bruit.errors import InvalidArgument, MissingExtra
from bruit.learning import (
    PCA,
    AdditiveModel,
    BoostedTrees,
    DecisionTree,
    Forest,
    KMeans,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    to_onnx,
)
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.tables import among, within

try:
    import onnx
    import onnxruntime
except ImportError:
    onnx = None

installed = pytest.mark.skipif(onnx is None, reason="needs onnx and onnxruntime")
DOMAIN = {
    "age": within(0, 90, grid="0.5", missing=40),
    "job": among(["clerk", "cook"]),
    "pay": within(-1, 3, grid="0.01"),
    "saved": within(0, 5000, grid=1),
}


def people(n: int = 300) -> pandas.DataFrame:
    rng = np.random.default_rng(1)
    jobs = rng.choice(["clerk", "cook", "spy"], n)
    return pandas.DataFrame(
        {"age": rng.uniform(-5, 95, n), "job": jobs, "pay": rng.normal(1, 2, n), "saved": 10 ** rng.uniform(-1, 4, n)}
    )


def price() -> Any:
    return bruit.Ledger("rows", epsilon=90, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW).budget(epsilon=9)


def answers(path: Path, frame: pandas.DataFrame) -> Any:
    columns = {"age": float, "job": object, "pay": float, "saved": float}
    asked = {name: frame[[name]].to_numpy(kind) for name, kind in columns.items()}
    return onnxruntime.InferenceSession(str(path)).run(None, asked)[0]


@installed
@pytest.mark.parametrize("curves", [False, True])
@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_probabilities_are_the_same(classes: list[str], curves: bool, tmp_path: Path) -> None:
    frame = people()
    y = np.random.default_rng(2).choice(classes, len(frame))
    model = LogisticRegression(domain=DOMAIN, classes=classes, curves=curves, budget=price()).fit(frame, y)
    path = to_onnx(model, tmp_path / "model.onnx")
    frame.loc[0, "age"] = np.nan
    assert np.allclose(answers(path, frame), model.predict_proba(frame), atol=1e-12)
    card = {each.key: each.value for each in onnx.load(path).metadata_props}["card"]
    assert json.loads(card)["guarantee"]["epsilon"] == "9"


@installed
def test_numbers_are_the_same_and_stay_within_their_bounds(tmp_path: Path) -> None:
    frame = people()
    model = LinearRegression(domain=DOMAIN, target=within(0, 1, grid="0.01"), budget=price()).fit(frame, frame["pay"])
    found = answers(to_onnx(model, tmp_path / "model.onnx"), frame)
    assert np.allclose(found[:, 0], model.predict(frame), atol=1e-12)


@installed
def test_other_models_are_refused_by_name_with_the_way_out(tmp_path: Path) -> None:
    frame, two = people(), {"domain": DOMAIN, "classes": ["no", "yes"]}
    y = np.random.default_rng(2).choice(["no", "yes"], len(frame))
    budget = bruit.Ledger("rows", epsilon=90, delta=0.1, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW).budget
    few = {"max_depth": 2, "bins": 4}
    for model in (
        NaiveBayes(**two),
        KMeans(2, domain=DOMAIN),
        PCA(1, domain=DOMAIN),
        DecisionTree(**two, **few),
        Forest(**two, **few, n_estimators=2),
        BoostedTrees(**two, **few, n_estimators=2),
        AdditiveModel(**two, bins=4, steps=2),
    ):
        model.set_params(budget=budget(epsilon=9, delta=1e-3)).fit(frame, y)
        with pytest.raises(InvalidArgument, match=rf"{type(model).__name__}: keep it with model\.save"):
            to_onnx(model, tmp_path / "model.onnx")  # type: ignore[arg-type]
        assert learning.load(model.save(tmp_path / "model.bruit"))
    with pytest.raises(InvalidArgument, match="not fitted"):
        to_onnx(LinearRegression(domain=DOMAIN), tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()


def test_without_the_extra_the_error_says_how_to_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    path = tmp_path / "model.onnx"
    with pytest.raises(MissingExtra, match=r"bruit\[onnx\]"):
        to_onnx(
            LinearRegression(domain=within(0, 1, grid=1), budget=bruit.WITHOUT_PRIVACY).fit([[0], [1], [1]], [1, 2, 3]),
            path,
        )
    with pytest.raises(InvalidArgument, match="to_onnx carries"):  # the extra would not help
        to_onnx(KMeans(), path)  # type: ignore[arg-type]
