"""Arguments that no fit can take: one sentence that says what to give, and nothing charged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bruit
from bruit import learning
from bruit.errors import InvalidArgument
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.tables import within

UNIT = within(-3, 3, grid="0.01")
X = np.random.default_rng(1).normal(0, 1, (40, 2))
Y = (X[:, 0] > 0).astype(int)
Paid = dict[str, Any]


def bayes(paid: Paid, **more: Any) -> learning.NaiveBayes:
    return learning.NaiveBayes(**{"domain": UNIT, "classes": [0, 1], **paid, **more})


def of_people(model: learning.NaiveBayes) -> learning.PrivateSearch:
    ledger = bruit.Ledger("people", epsilon=9, neighbours=ADD_OR_REMOVE_ONE, person="id")
    return learning.PrivateSearch(model, {"rows_per_person": [1, 2]}, budget=ledger.budget(epsilon=9))


WRONG: dict[str, Callable[[Paid], Any]] = {
    "no rows": lambda paid: bayes(paid).fit(None, Y),
    "a number for rows": lambda paid: bayes(paid).fit(5, Y),
    "a text for rows": lambda paid: bayes(paid).fit("rows", Y),
    "rows that come one by one": lambda paid: bayes(paid).fit((row for row in X), Y),
    "rows of two lengths": lambda paid: bayes(paid).fit([[1, 2], [3]], [0, 1]),
    "a number for a domain": lambda paid: bayes(paid, domain=5).fit(X, Y),
    "a pair for a domain": lambda paid: bayes(paid, domain=(-1, 1)).fit(X, Y),
    "labels of two kinds": lambda paid: bayes(paid, classes=[0, "a"]).fit(X, Y),
    "a label that is missing": lambda paid: bayes(paid, classes=[0.0, float("nan")]).fit(X, Y),
    "a set of labels": lambda paid: bayes(paid, classes={0, 1}).fit(X, Y),
    "a text of labels": lambda paid: bayes(paid, classes="01").fit(X, Y),
    "a table of labels": lambda paid: bayes(paid, classes=[(0, 1), (1, 2)]).fit(X, Y),
    "nothing as a label": lambda paid: bayes(paid, classes=[0, None]).fit(X, Y),
    "objects for labels": lambda paid: bayes(paid, classes=[object(), object()]).fit(X, Y),
    "one label": lambda paid: bayes(paid, classes=[0]).fit(X, Y),
    "curves by a word": lambda paid: learning.LogisticRegression(
        domain=UNIT,
        classes=[0, 1],
        curves="yes",
        **paid,  # type: ignore[arg-type]
    ).fit(X, Y),
    "more levels than memory": lambda paid: learning.DecisionTree(domain=UNIT, max_depth=100, **paid).fit(X, Y),
    "more centres than memory": lambda paid: learning.KMeans(10**9, domain=UNIT, **paid).fit(X),
    "one candidate": lambda paid: learning.select(bayes({}), X, Y, **paid),  # type: ignore[arg-type]
    "no candidates": lambda paid: learning.select([], X, Y, **paid),
    "a number for labels": lambda paid: bayes(paid).fit(X, 5),
    "two columns of people": lambda paid: bayes(paid).fit(X, Y, groups=np.zeros((40, 2))),
    "a column's name for people": lambda paid: bayes(paid).fit(X, Y, groups="id"),
    "two columns of people in a choice": lambda paid: of_people(bayes({})).fit(X, Y, groups=np.zeros((40, 2))),
    "a number for the encoder": lambda _paid: learning.DomainEncoder(domain=5).fit(X),  # type: ignore[arg-type]
    "a folder for a file": lambda _paid: learning.load(Path(__file__).parent),
    "a number for a file": lambda _paid: learning.load(5),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", WRONG)
def test_what_no_fit_can_take_is_one_sentence_and_charges_nothing(name: str) -> None:
    ledger = bruit.Ledger("rows", epsilon=9, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    with pytest.raises(InvalidArgument) as refusal:
        WRONG[name]({"budget": ledger.budget(epsilon=3, delta=1e-6)})
    assert "\n" not in str(refusal.value)
    assert not ledger.entries


def test_a_file_that_cannot_be_written_is_refused_in_words(tmp_path: Path) -> None:
    ledger = bruit.Ledger("rows", epsilon=9, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    model = bayes({"budget": ledger.budget(epsilon=3)}).fit(X, Y)
    with pytest.raises(InvalidArgument, match="there is no folder"):
        model.save(tmp_path / "nowhere" / "model.bruit")
    with pytest.raises(InvalidArgument, match="no text"):
        model.save(tmp_path / "model.bruit", intended_use=5)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
    with pytest.raises(InvalidArgument, match="no table"):
        model.predict(None)
