"""A saved model in an environment of its own: the wheel, what it needs, another user, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np
import pytest

import bruit
from bruit import learning
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.tables import among, within

HERE = Path(__file__).parents[2]
UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
NOBODY: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}

X = np.column_stack([np.arange(60) % 10, np.arange(60) % 3])
Y = (X[:, 0] > 4).astype(int)
SECRET = "the-address-of-the-store"

LOADING = """
import importlib.util, json, os, pathlib, sys
import joblib
import bruit

rows, files = json.loads(sys.argv[2]), sorted(pathlib.Path(sys.argv[1]).glob("*.bruit"))
loaded = {path.stem: (bruit.learning.load(path), joblib.load(path.with_suffix(".joblib"))) for path in files}
promised = {name: str(saved.guarantee_) for name, (saved, _) in loaded.items()}
found = {}
for name, pair in loaded.items():
    answers = [(getattr(each, "predict", None) or each.transform)(rows).tolist() for each in pair]
    found[name] = [*answers, promised[name], pair[0].card_.text, pair[0]._repr_html_() != ""]
absent = [name for name in ("pandas", "matplotlib", "torch", "fastapi") if importlib.util.find_spec(name) is None]
print(json.dumps({"models": found, "user": os.getuid(), "home": os.environ.get("HOME"), "absent": absent,
                  "bruit": bruit.__file__, "variables": sorted(os.environ)}))
"""


def models() -> dict[str, Any]:
    labelled, few = {"domain": [within(0, 10, grid=1), among([0, 1])], "classes": [0, 1]}, {"max_depth": 2, "bins": 4}
    return {
        "NaiveBayes": learning.NaiveBayes(**labelled),
        "LogisticRegression": learning.LogisticRegression(**labelled),
        "LinearRegression": learning.LinearRegression(domain=labelled["domain"], target=within(0, 1, grid=1)),
        "KMeans": learning.KMeans(2, domain=labelled["domain"]),
        "PCA": learning.PCA(1, domain=labelled["domain"]),
        "DecisionTree": learning.DecisionTree(**labelled, **few),
        "Forest": learning.Forest(**labelled, **few, n_estimators=3),
        "BoostedTrees": learning.BoostedTrees(**labelled, **few, n_estimators=3),
        "AdditiveModel": learning.AdditiveModel(**labelled, bins=4, steps=3),
        "Student": learning.Student(**labelled, public=X[:5], n_neighbors=3),
    }


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder that any user may read."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def python_for_all() -> tuple[str, dict[str, Any]]:
    """A Python of this version that another user may run, and how to become that user; else this one and ourselves."""
    name = f"python3.{sys.version_info.minor}"
    for found in (Path(sys.base_prefix) / "bin" / name, Path("/usr/bin") / name):
        if found.exists() and all(each.stat().st_mode & 0o005 == 0o005 for each in (found, *found.resolve().parents)):
            return str(found), NOBODY
    return sys.executable, {}


def install(folder: Path, python: str) -> Path:
    """The Python of a new environment that holds the wheel of this checkout, and what learning needs."""
    locked = str(HERE / "requirements.lock")
    for command in (
        ["build", "--wheel", "--quiet", "--build-constraint", locked, "--out-dir", str(folder), str(HERE)],
        ["venv", "--quiet", "--python", python, str(folder / "environment")],
    ):
        subprocess.run([UV, *command], check=True)
    (wheel,) = folder.glob("*.whl")
    new = folder / "environment" / "bin" / "python"
    asked = ["pip", "install", "--quiet", "--python", str(new), "--constraint", locked, f"{wheel}[learn]"]
    subprocess.run([UV, *asked], check=True)
    return new


@pytest.mark.stress
@pytest.mark.skipif(not Path(UV).exists(), reason="needs uv")
def test_every_model_is_loaded_in_a_new_environment_by_another_user(elsewhere: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / SECRET}.db"
    ledger = bruit.Ledger("rows", epsilon=99, delta=1e-2, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW, store=store)
    kept = elsewhere / "models"
    kept.mkdir(mode=0o755)
    fitted, promised = {}, {}
    for name, model in models().items():
        fitted[name] = model.set_params(budget=ledger.budget(epsilon=1, delta=1e-6)).fit(X, Y)
        promised[name] = str(model.guarantee_)  # before any prediction, from which on a choice is marked
        model.save(kept / f"{name}.bruit", intended_use="Beds per ward, not people.")
        joblib.dump(model, kept / f"{name}.joblib")
    (tmp_path / f"{SECRET}.db").unlink()
    python, somebody = python_for_all()
    command = [str(install(elsewhere, python)), "-I", "-c", LOADING, str(kept), json.dumps(X[:9].tolist())]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env={}, cwd=elsewhere, **somebody)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["user"] == somebody.get("user", os.getuid())
    assert told["home"] is None
    assert told["absent"] == ["pandas", "matplotlib", "torch", "fastapi"]
    assert str(elsewhere) in told["bruit"]
    assert set(told["models"]) == set(fitted)
    for name, (saved, dumped, guarantee, card, shown) in told["models"].items():
        model = fitted[name]
        here = model.predict(X[:9]) if hasattr(model, "predict") else model.transform(X[:9])
        assert np.allclose(saved, here, rtol=0, atol=1e-12)
        assert np.allclose(dumped, here, rtol=0, atol=1e-12)
        assert guarantee == promised[name]
        assert "times as likely" in card
        assert "Beds per ward" in card
        assert shown
