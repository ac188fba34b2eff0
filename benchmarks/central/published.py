"""The synthetic experiments of JointExp's paper: rank error against the number of quantiles, ours beside JointExp.

1000 records, uniform on [-5, 5] or normal with deviation 5, bounds [-100, 100], ε = 1, the quantiles j/(m+1), m from 1
to 29, a fresh table a trial: as in the program published with [Gillenwater et al. 2021]. It exchanges one record; here
both relations are run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars
from numpy.typing import NDArray

import bruit
from benchmarks.central.releases import draw_joint_exp
from bruit.core import Neighbours

ROWS, EPSILON, BOUNDS = 1000, 1.0, (-100.0, 100.0)
NUMBERS = (1, 3, 5, 9, 14, 19, 24, 29)
LAWS: dict[str, Callable[[np.random.Generator], NDArray[np.float64]]] = {
    "uniform": lambda rng: rng.uniform(-5, 5, ROWS),
    "normal": lambda rng: np.clip(rng.normal(0, 5, ROWS), *BOUNDS),
}


@dataclass(frozen=True)
class Setting:
    """One law, one number of quantiles, one relation."""

    law: str
    number: int
    neighbours: Neighbours

    @property
    def probabilities(self) -> NDArray[np.float64]:
        return np.arange(1, self.number + 1) / (self.number + 1)

    @property
    def replaced(self) -> bool:
        return self.neighbours is bruit.REPLACE_ONE


def settings() -> Iterator[Setting]:
    """Every setting of the paper, under both relations."""
    for neighbours in (bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE):
        for law in LAWS:
            yield from (Setting(law, number, neighbours) for number in NUMBERS)


def draw_ours(setting: Setting, records: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """The quantiles by the default method of `central.quantiles`."""
    book = bruit.Ledger("benchmark", epsilon=EPSILON, neighbours=setting.neighbours, person=bruit.EACH_ROW)
    table = bruit.tables.read(polars.DataFrame({"x": records}), person=bruit.EACH_ROW)
    column = table["x"].within(*BOUNDS, grid="0.0001", missing=0)
    wanted = [f"{j}/{setting.number + 1}" for j in range(1, setting.number + 1)]
    budget = book.budget(epsilon=EPSILON)
    return bruit.central.quantiles(column, wanted, budget=budget, public_size=setting.replaced, rng=rng).value


def draw_theirs(setting: Setting, records: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """The quantiles by JointExp."""
    shares = np.full(setting.number + 1, 1 / (setting.number + 1))
    sensitivity = 2.0 if setting.replaced else 2 * (1 - shares.min())
    return draw_joint_exp(records, shares, BOUNDS, EPSILON / (2 * sensitivity), rng)


def rank_errors(setting: Setting, tables: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The mean rank error of each table: a row for ours, a row for JointExp."""
    found = np.empty((2, tables))
    for trial in range(tables):
        records = LAWS[setting.law](rng)
        ordered, wanted = np.sort(records), setting.probabilities * ROWS
        for side, draw in enumerate((draw_ours, draw_theirs)):
            cuts = draw(setting, records, rng)
            found[side, trial] = np.abs(np.searchsorted(ordered, cuts) - wanted).mean()
    return found
