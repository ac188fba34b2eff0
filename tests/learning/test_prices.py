"""What a model costs, in every book."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bruit
from bruit.learning import PCA, KMeans, LinearRegression, LogisticRegression, NaiveBayes
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Neighbours
from bruit.tables import among, within

UNIT = within(-1, 1, grid="0.01")


@pytest.mark.parametrize("epsilon", [0.05, 8])
@pytest.mark.parametrize("by", ["basic", "zcdp", ("rdp", 8)])
@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_every_model_stays_within_its_price_in_every_book(neighbours: Neighbours, by: Any, epsilon: float) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.uniform(-1, 1, (40, 3)), rng.integers(0, 2, 40)
    mixed: list[Any] = [UNIT, UNIT, among([0, 1])]
    for size in (None, 10**6):
        book = bruit.Ledger("all", epsilon=1000, delta=0.1, neighbours=neighbours, person=EACH_ROW, by=by)
        paid: dict[str, Any] = {"size": size, "budget": book.budget(epsilon=epsilon, delta=1e-6)}
        for model in (
            LinearRegression(domain=UNIT, target=UNIT, **paid),
            LogisticRegression(domain=mixed, classes=[0, 1, 2], **paid),
            NaiveBayes(domain=mixed, classes=[0, 1], **paid),
            KMeans(2, domain=mixed, **paid),
            PCA(domain=[UNIT, UNIT, among(range(20))], **paid),
        ):
            model.fit(X, y)
            assert model.guarantee_.epsilon <= Fraction(str(epsilon))
