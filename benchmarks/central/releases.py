"""Nine private deciles beside JointExp, diffprivlib and OpenDP: rank error, value error, time.

Every error is the mean over the nine deciles and over many tables, the same for all sides, with its standard error. A
side works out all its figures of a cell at once and keeps them for the other rows of the same run.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.case import Case, Peer, Prepare, Work

if TYPE_CHECKING:
    import numpy as np

REPEATS = 40
MORE_REPEATS = {1_000: 400, 10_000: 200, 100_000: 100}
"""Tables for ours and JointExp, by size, so that a ratio is known to some hundredths; for the others REPEATS."""

LAWS = {"uniform": (0.0, 1.0), "normal": (-5.0, 5.0), "lognormal": (0.0, 100.0)}
CELLS_OF_GRID = 10**6
BETTER = 1 / 0.7
"""The goal against JointExp: at most 0.7 times its error."""

LARGE = 100_000
Answer = Callable[["np.ndarray[Any, Any]"], "np.ndarray[Any, Any]"]
Side = Callable[["Cell"], Answer]


@dataclass(frozen=True)
class Cell:
    """One table size, one epsilon, one law, one relation."""

    rows: int
    epsilon: float
    law: str
    replace: bool = False

    @property
    def name(self) -> str:
        relation = "replace one" if self.replace else "add or remove one"
        return f"n={self.rows} ε={self.epsilon:g} {self.law}, {relation}"

    def table(self, repeat: int) -> np.ndarray[Any, Any]:
        """Unsorted records within the bounds."""
        import numpy as np

        rng = np.random.default_rng([self.rows, repeat, list(LAWS).index(self.law)])
        laws: dict[str, Callable[..., np.ndarray[Any, Any]]]
        laws = {"uniform": rng.random, "normal": rng.standard_normal, "lognormal": rng.lognormal}
        return np.asarray(np.clip(laws[self.law](size=self.rows), *LAWS[self.law]))


# ---------------------------------------------------------------- the sides


def bruit_deciles(cell: Cell) -> Answer:
    import polars

    import bruit

    low, high = LAWS[cell.law]
    relation = bruit.REPLACE_ONE if cell.replace else bruit.ADD_OR_REMOVE_ONE
    book = bruit.Ledger("benchmark", epsilon=10_000, neighbours=relation, person=bruit.EACH_ROW)
    budget = book.budget(epsilon=cell.epsilon)

    def answer(records: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        table = bruit.tables.read(polars.DataFrame({"x": records}), person=bruit.EACH_ROW)
        column = table["x"].within(low, high, grid=f"{(high - low) / CELLS_OF_GRID:.6f}", missing=0)
        return bruit.central.quantiles(column, bruit.DECILES, budget=budget, public_size=cell.replace).value

    return answer


def joint_exp(cell: Cell) -> Answer:
    """JointExp [Gillenwater et al. 2021, Algorithm 1] for nine deciles."""
    import numpy as np

    rng, shares = np.random.default_rng(), np.full(10, 0.1)
    sensitivity = 2.0 if cell.replace else 2 * (1 - shares.min())
    rate = cell.epsilon / (2 * sensitivity)
    return lambda records: draw_joint_exp(records, shares, LAWS[cell.law], rate, rng)


def draw_joint_exp(
    records: np.ndarray[Any, Any],
    shares: np.ndarray[Any, Any],
    bounds: tuple[float, float],
    rate: float,
    rng: np.random.Generator,
) -> np.ndarray[Any, Any]:
    """One draw of JointExp in plain NumPy, its sums by Fourier transforms; rate = ε / (2 sensitivity)."""
    import numpy as np

    def gumbel(logs: np.ndarray[Any, Any]) -> int:
        return int(np.argmax(logs + rng.gumbel(size=logs.shape)))

    edges = np.concatenate([bounds[:1], np.sort(records), bounds[1:]])
    rows, number = len(records), len(shares) - 1
    wanted = shares * rows
    with np.errstate(divide="ignore"):
        lengths = np.log(np.diff(edges))
    ranks = np.arange(rows + 1)
    width = 1 << (2 * rows + 1).bit_length()
    parts = [[lengths - rate * np.abs(ranks - wanted[0])]]
    sums = [parts[0][0]]
    for j in range(1, number):
        steps = np.exp(-rate * np.abs(ranks - wanted[j]))
        steps[0] = 0.0  # two cuts of one interval are counted apart
        kernel, top = np.fft.rfft(steps, width), sums[-1].max()
        moved = np.fft.irfft(np.fft.rfft(np.exp(sums[-1] - top), width) * kernel, width)[: rows + 1]
        with np.errstate(divide="ignore"):
            first = np.log(np.maximum(moved, 0)) + top + lengths
        again = [lengths + old - rate * wanted[j] - np.log(k + 2) for k, old in enumerate(parts[-1])]
        parts.append([first, *again])
        sums.append(np.logaddexp.reduce(parts[-1]))
    cuts, j, rank = np.empty(number), number - 1, -1
    logs = sums[j] - rate * np.abs(rows - ranks - wanted[number])
    while j >= 0:
        rank = gumbel(logs)
        shared = 1 + gumbel(np.array([part[rank] for part in parts[j]]))
        cuts[j - shared + 1 : j + 1] = np.sort(rng.uniform(edges[rank], edges[rank + 1], shared))
        j -= shared
        if j >= 0:
            logs = sums[j][:rank] - rate * np.abs(rank - ranks[:rank] - wanted[j + 1])
    return cuts


def diffprivlib_deciles(cell: Cell) -> Answer:
    import warnings

    import numpy as np
    from diffprivlib.tools import quantile

    warnings.filterwarnings("ignore")
    deciles = np.arange(1, 10) / 10
    return lambda records: np.asarray(quantile(records, deciles, epsilon=cell.epsilon, bounds=LAWS[cell.law]))


def opendp_deciles(cell: Cell) -> Answer:
    import numpy as np
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    candidates = [float(value) for value in np.linspace(*LAWS[cell.law], 1000)]
    changes = 2 if cell.replace else 1

    def measure(decile: float) -> Any:
        def at(scale: float) -> Any:
            return space >> dp.m.then_private_quantile(dp.max_divergence(), candidates, decile, scale)

        return at(dp.binary_search_param(at, d_in=changes, d_out=cell.epsilon / 9, T=float))

    measures = [measure(i / 10) for i in range(1, 10)]
    return lambda records: np.array([each(records) for each in measures])


# ---------------------------------------------------------------- the figures


def figures(cell: Cell, side: Side) -> dict[str, float]:
    """The errors of a side in a cell, worked out once in a run of the benchmarks."""
    run = Path("/proc") / str(os.getppid())  # the run that started this process; its age tells it from an earlier one
    age = run.stat().st_ctime_ns if run.exists() else 0
    folder = Path(tempfile.gettempdir()) / f"bruit-benchmark-{run.name}-{age}"
    folder.mkdir(exist_ok=True)
    file = folder / f"{side.__name__}-{cell.name.replace(' ', '-')}.json"
    if not file.exists():
        file.write_text(json.dumps(measured(cell, side)))
    found: dict[str, float] = json.loads(file.read_text())
    return found


def measured(cell: Cell, side: Side) -> dict[str, float]:
    import numpy as np

    answer, deciles = side(cell), np.arange(1, 10) / 10
    repeats = MORE_REPEATS[cell.rows] if side in (bruit_deciles, joint_exp) else REPEATS
    ranks, values = np.empty(repeats), np.empty(repeats)
    for repeat in range(repeats):
        records = cell.table(repeat)
        found, ordered = answer(records), np.sort(records)
        ranks[repeat] = np.abs(np.searchsorted(ordered, found) - deciles * cell.rows).mean()
        values[repeat] = np.abs(found - np.quantile(ordered, deciles)).mean()
    errors = {"rank": ranks, "value": values}
    means = {name: float(each.mean()) for name, each in errors.items()}
    return means | {f"{name} se": float(each.std(ddof=1) / repeats**0.5) for name, each in errors.items()}


def error(cell: Cell, side: Side, quantity: str) -> Prepare:
    return lambda: lambda: figures(cell, side)[quantity]


def timed(cell: Cell, side: Side) -> Prepare:
    def prepare() -> Work:
        answer, records = side(cell), cell.table(0)
        return lambda: answer(records)

    return prepare


def sorting() -> Work:
    import numpy as np

    records = Cell(LARGE, 1.0, "normal").table(0)
    return lambda: np.sort(records)


# ---------------------------------------------------------------- the cases

OTHERS = {"JointExp": joint_exp, "diffprivlib": diffprivlib_deciles, "OpenDP": opendp_deciles}
ADDED = [Cell(n, e, law) for n in (1_000, 10_000, LARGE) for e in (0.1, 1.0) for law in LAWS]
REPLACED = [Cell(n, e, "normal", replace=True) for n in (10_000, LARGE) for e in (0.1, 1.0)]


def error_cases(cell: Cell) -> list[Case]:
    """Rank error with its standard error, and value error with its own."""
    found = []
    enough = cell.rows * cell.epsilon >= 1000
    for quantity, unit in (("rank", "records"), ("rank se", "records"), ("value", "units"), ("value se", "units")):
        times = BETTER if quantity in ("rank", "value") and not cell.replace else None
        peers = tuple(
            Peer(name, error(cell, side, quantity), times=times if side is joint_exp else None)
            for name, side in OTHERS.items()
        )
        goal = (6 if cell.replace else 3.3) / cell.epsilon if quantity == "rank" and enough else None
        title = quantity.replace(" se", " error, standard error") if quantity.endswith("se") else f"{quantity} error"
        ours = error(cell, bruit_deciles, quantity)
        found.append(
            Case(f"{title}: {cell.name}", unit, "lower", ours, peers, goal=goal, returned=True, calls=1, rounds=1)
        )
    return found


def time_case(cell: Cell) -> Case:
    times = {"JointExp": 40.0}
    peers = tuple(Peer(name, timed(cell, side), times=times.get(name)) for name, side in OTHERS.items())
    sort = Peer("np.sort", sorting, times=0.4, here=True)
    return Case(f"whole call: {cell.name}", "s", "lower", timed(cell, bruit_deciles), (*peers, sort))


CASES = [
    *(time_case(Cell(LARGE, epsilon, "normal")) for epsilon in (0.1, 1.0)),
    *(case for cell in (*ADDED, *REPLACED) for case in error_cases(cell)),
]
