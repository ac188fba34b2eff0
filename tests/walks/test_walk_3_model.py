"""Walk 3: a private model with scikit-learn habits; every fit charges, clones and cross-validation included."""

import numpy as np
import pytest

import bruit
from bruit.errors import BudgetExceeded


def test_every_fit_charges_and_so_do_clones() -> None:
    trees = bruit.learning.BoostedTrees
    from sklearn.base import clone

    rng = np.random.default_rng(1)
    X = rng.uniform(0, 1, (2000, 2))
    y = (X[:, 0] > 0.5).astype(int)
    domain = {"a": bruit.tables.within(0, 1, grid=0.01), "b": bruit.tables.within(0, 1, grid=0.01)}
    ledger = bruit.Ledger(
        "patients", epsilon=2.5, delta=1e-5, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW
    )

    model = trees(domain=domain, budget=ledger.budget(epsilon=1.0, delta=1e-6)).fit(X, y)
    again = clone(model).fit(X, y)

    assert model.score(X, y) > 0.8
    assert again.score(X, y) > 0.8
    with pytest.raises(BudgetExceeded):
        clone(model).fit(X, y)
