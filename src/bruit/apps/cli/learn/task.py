"""A prediction as a schema states it: the public domains of the columns, the model, and how it is fitted and scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.apps.steward.sources import open_plan
from bruit.core.neighbours import EACH_ROW, REPLACE_ONE, Neighbours
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, Ledger
from bruit.randomness import uniform_below
from bruit.tables import Domain, among, within
from bruit.tables.relations.running import withheld
from bruit.tables.schema import Category, Number, Schema, YesNo
from bruit.tables.sources.opening import Source, open_source

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "AdditiveModel": {},
    "BoostedTrees": {},
    "LogisticRegression": {},
    "NaiveBayes": {},
}
REGRESSORS: dict[str, dict[str, Any]] = {
    "AdditiveModel": {"loss": "squared_error"},
    "BoostedTrees": {"loss": "squared_error"},
    "LinearRegression": {},
}
"""Models of bruit.learning with their settings, for columns of classes and of numbers."""

PERSON = "whose row it is"
"""The column of people as the schema reads them, beside those of the file."""

HELD_PARTS = 4
"""One of so many parts of the people is held back where figures are bought."""


@dataclass(frozen=True)
class People:
    """Columns to learn from, what is predicted, and whose each row is (None where each is a person)."""

    X: polars.DataFrame
    y: NDArray[Any]
    groups: NDArray[Any] | None

    def where(self, kept: NDArray[np.bool_]) -> People:
        """The rows that are kept."""
        return People(self.X.filter(kept), self.y[kept], None if self.groups is None else self.groups[kept])

    def nobody(self, neighbours: Neighbours) -> People:
        """An empty table of the same columns for a rehearsal; under replacement, as many missing rows as there are."""
        rows = len(self.y) if neighbours is REPLACE_ONE else 0
        missing = np.full(rows, None if self.y.dtype == object else np.nan)
        return People(self.X.clear(rows), missing, None if self.groups is None else np.full(rows, None))


@dataclass(frozen=True)
class Task:
    """One column of a schema that is predicted from the others, by one model, with so many rows of a person."""

    schema: Schema
    target: str
    model: str
    rows: int = 1
    size: int | None = None

    def __post_init__(self) -> None:
        column = self.schema.columns.get(self.target)
        if not isinstance(column, Number | Category | YesNo):
            raise InvalidArgument(
                f"--predict {self.target}: the schema has no such column of numbers, categories, or yes and no"
            )
        known = REGRESSORS if isinstance(column, Number) else CLASSIFIERS
        if self.model not in known:
            raise InvalidArgument(f"--model {self.model} does not predict {self.target}: choose {', '.join(known)}")
        if not self.domain:
            raise InvalidArgument("the schema has no other column of numbers, categories, or yes and no to learn from")

    @property
    def domain(self) -> dict[str, Domain]:
        """What is public about the columns that are learned from."""
        found = {name: _domain(name, column) for name, column in self.schema.columns.items() if name != self.target}
        return {name: domain for name, domain in found.items() if domain is not None}

    def require_classes(self) -> None:
        """Refuses figures of a regression, which has no classes to be right about."""
        if isinstance(self.schema.columns[self.target], Number):
            raise InvalidArgument(f"--evaluate is for classes, and {self.target} holds numbers: leave it out")

    def settings(self, budget: Budget) -> dict[str, Any]:
        """What the model is told: public domains, classes or bounds, and the budget that pays."""
        column = self.schema.columns[self.target]
        asked: dict[str, Any] = {"domain": self.domain, "budget": budget}
        asked |= {"rows_per_person": self.rows, "size": self.size}
        if isinstance(column, Number):
            asked |= {"target": _domain(self.target, column), **REGRESSORS[self.model]}
        else:
            classes = column.values if isinstance(column, Category) else YesNo.labels
            asked |= {"classes": list(classes), **CLASSIFIERS[self.model]}
        return asked

    def learn(self, people: People, budgets: list[Budget]) -> tuple[Any, list[Release[Any]]]:
        """The fitted model and, where a second budget pays for them, its figures on people held back."""
        from bruit import learning

        estimator = getattr(learning, self.model)(**self.settings(budgets[0]))
        rows = len(people.y)
        held = _hold_back(rows, people.groups) if len(budgets) > 1 else np.zeros(rows, bool)
        fitted_on, scored_on = people.where(~held), people.where(held)
        estimator.fit(fitted_on.X, fitted_on.y, groups=fitted_on.groups)
        if len(budgets) == 1:
            return estimator, []
        asked: dict[str, Any] = {"budget": budgets[1], "groups": scored_on.groups, "rows_per_person": self.rows}
        return estimator, [learning.evaluate(estimator, scored_on.X, scored_on.y, **asked)]

    def read(self, source: str, *, table: str | None = None, book: Ledger | None = None) -> People:
        """The rows of a file or of a table of a database, opened as every question opens it; domains read the cells.

        A person is read as the schema says, like in every question: " 7" and "07" of a whole number are one.
        """
        (leaf,) = open_plan(source, self.schema, table=table, book=book).leaves
        opened, person = _in_polars(leaf.source, self.schema), self.schema.person
        columns = [polars.col(name) for name in (*self.domain, self.target)]
        if person != EACH_ROW:
            columns.append(opened.encode(person, self.schema, prefix=PERSON).parts[PERSON].alias(PERSON))
        with withheld():
            found = opened.frame.select(columns).collect()
        people = None if person == EACH_ROW else np.fromiter(found[PERSON].to_list(), object)
        labels = _labels(found[self.target], self.schema.columns[self.target])
        return People(found.select(list(self.domain)), labels, people)


def _in_polars(source: Source, schema: Schema) -> Source:
    """The declared columns of a DuckDB table as a frame of polars; other sources are one already."""
    if source.engine == "polars":
        return source
    with withheld():
        read = source.frame.pl().select(list(schema.columns))
    return open_source(read, schema)


def _labels(cells: polars.Series, column: object) -> NDArray[Any]:
    """The cells of the target: numbers unchanged, categories as trimmed texts, yes and no as those two words."""
    if isinstance(column, Number):
        return np.asarray(cells.to_numpy())
    texts = cells.cast(polars.String, strict=False).str.strip_chars()
    if isinstance(column, YesNo):
        meant = dict.fromkeys(column.no, "no") | dict.fromkeys(column.yes, "yes")
        texts = texts.replace_strict(meant, default=None, return_dtype=polars.String)
    return np.asarray(texts.to_numpy())


def _domain(name: str, column: object) -> Domain | None:
    """What a column's type says of its values; None for dates, times and names of people."""
    if isinstance(column, Number):
        if column.strip:
            raise InvalidArgument(f"{name}: numbers with `strip` in the schema are not learned from; leave it out")
        return within(column.low, column.high, grid=column.grid, missing=column.missing)
    if isinstance(column, Category):
        return among(column.values, drop_others=column.others is None)
    return among((*column.no, *column.yes), drop_others=True) if isinstance(column, YesNo) else None


def _hold_back(rows: int, groups: NDArray[Any] | None) -> NDArray[np.bool_]:
    """Which rows are held back for evaluation: each person is, at random, with chance 1 / HELD_PARTS."""
    from bruit.learning.estimator.records import person_numbers

    people = np.arange(rows) if groups is None else person_numbers(groups)
    return np.asarray((uniform_below(HELD_PARTS, int(people.max(initial=-1)) + 2) == 0)[people])
