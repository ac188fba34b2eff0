"""The four data sets of the nearest-neighbour study, each with bounds stated by its publisher."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.apps import data
from bruit.apps.data.census_categories import CATEGORIES
from bruit.learning.estimator.records import encode_classes, encode_rows
from bruit.learning.nearest_neighbours.space import space_of
from bruit.learning.nearest_neighbours.votes import count_votes
from bruit.tables import Domain, among, within

ADULT_NUMBERS = {"age": 90, "education-num": 16, "hours-per-week": 99, "capital-gain": 12, "capital-loss": 9}
"""Columns of numbers with their largest value; of the two capitals log(1 + x) is taken."""

ADULT_CATEGORIES = ("workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country")
ADULT_WEIGHTS = (2.0,) * len(ADULT_NUMBERS) + (1.0,) * len(ADULT_CATEGORIES)
"""A number rarely differs by its whole width, a category always does."""

WINE = (15, 6, 4, 30, 170, 4, 6, 1, 4, 13, 2, 4, 1700)
BREAST = (
    *(30, 40, 200, 2600, 0.2, 0.4, 0.5, 0.3, 0.4, 0.1),
    *(3, 5, 22, 550, 0.04, 0.14, 0.4, 0.06, 0.08, 0.03),
    *(40, 50, 260, 4300, 0.3, 1.1, 1.3, 0.3, 0.7, 0.3),
)
"""Round numbers not below the largest that the descriptions of both tables print: means, their errors, the worst."""

QUERIES = 2000
"""How many people of the test file of Adult ask."""

EVERY, HELD = 10, (0, 3, 6)
"""Of every ten rows these three are held out where a table has no test file."""


@dataclass(frozen=True)
class Task:
    """Labelled records, and queries with their right answers."""

    records: Any
    labels: NDArray[Any]
    questions: Any
    truth: NDArray[Any]
    domain: dict[str, Domain] | list[Domain]
    weights: tuple[float, ...] | None

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels, as all four publishers list them."""
        return np.unique(self.truth)

    def votes(self, nearest: int) -> NDArray[np.int64]:
        """The votes of the `nearest` records for each class, one row per query."""
        domains = list(self.domain.values()) if isinstance(self.domain, dict) else self.domain
        space = space_of(domains, self.weights)
        records, questions = (
            space.coordinates(encode_rows(each, domains)[0]) for each in (self.records, self.questions)
        )
        labels = encode_classes(self.labels, self.classes)[0]
        return count_votes(records, labels, questions, nearest=nearest, classes=len(self.classes))


@cache
def task(name: str, rows: int | None) -> Task:
    """One of the data sets, whole or only its first rows."""
    made = {"adult": _adult, "wine": _wine, "digits": _digits, "breast cancer": _breast}[name]()
    if rows is None:
        return made
    few = max(rows // 10, 20)
    return Task(
        made.records[:rows], made.labels[:rows], made.questions[:few], made.truth[:few], made.domain, made.weights
    )


def adult_domain() -> dict[str, Domain]:
    """The public domains of the columns of `adult_columns`."""
    numbers: dict[str, Domain] = {name: within(0, high, grid="0.1") for name, high in ADULT_NUMBERS.items()}
    return numbers | {name: among(CATEGORIES[name]) for name in ADULT_CATEGORIES}


def adult_columns(table: polars.DataFrame) -> polars.DataFrame:
    """The columns of Adult that predict income, with logarithms of capital gain and loss."""
    capitals = polars.col("capital-gain", "capital-loss").log1p()
    return table.select("age", "education-num", "hours-per-week", capitals, *ADULT_CATEGORIES)


def _adult() -> Task:
    training, test = data.adult("training"), data.adult("test").head(QUERIES)
    labels = [table["income"].to_numpy().astype(str) for table in (training, test)]
    return Task(adult_columns(training), labels[0], adult_columns(test), labels[1], adult_domain(), ADULT_WEIGHTS)


def _wine() -> Task:
    from sklearn.datasets import load_wine

    return _hold_out(load_wine(), WINE)


def _digits() -> Task:
    from sklearn.datasets import load_digits

    return _hold_out(load_digits(), (16,) * 64)


def _breast() -> Task:
    from sklearn.datasets import load_breast_cancer

    return _hold_out(load_breast_cancer(), BREAST)


def _hold_out(found: Any, highest: tuple[float, ...]) -> Task:
    """A table cut by the number of the row: a thousand grid steps for each column."""
    held = np.isin(np.arange(len(found.data)) % EVERY, HELD)
    domain: list[Domain] = [within(0, str(round(high, 6)), grid=str(round(high / 1000, 9))) for high in highest]
    return Task(found.data[~held], found.target[~held], found.data[held], found.target[held], domain, None)
