"""Running totals beside the textbooks': errors in closed form and simulated, and what an update costs.

Errors are root mean squares in units of Δ/√(2ρ), Δ what one person changes in one period: of the worst total in closed
form, over all periods where they are simulated. Ours are simulated with the integer noise of the real programme.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from math import log2, sqrt
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.case import Case, Peer, Work

STREAMS = 500
SHIFT = 0.2367
CELLS, UPDATES = 1000, 60
LADDER = tuple(2**power for power in range(3, 21))


def factor_of(periods: int) -> Any:
    from bruit.continual.factorisation import search_factor

    return search_factor(periods)


def plan_of(periods: int, shift: float = 1.0, **often: int) -> Any:
    from bruit.continual import Contribution, Participation
    from bruit.continual.factorisation import search_factor
    from bruit.continual.plan import make_plan
    from bruit.core import ADD_OR_REMOVE_ONE

    people = Participation(often.get("times", 1), often.get("apart", 1))
    return make_plan(
        search_factor(periods, times=people.most(periods), apart=people.apart),
        shift,
        periods=periods,
        cells=1,
        participation=people,
        contribution=Contribution(1, 1, 1, signed=False),
        neighbours=ADD_OR_REMOVE_ONE,
    )


# ---------------------------------------------------------------- closed forms
def ours(periods: int, **often: int) -> Work:
    from bruit.continual.noise.deviations import total_deviation

    plan = plan_of(periods, **often)
    return lambda: total_deviation(plan, periods)


def bits(periods: int) -> np.ndarray:
    """Which nodes of the binary tree each total is made of."""
    return (np.arange(1, periods + 1)[:, None] >> np.arange(int(log2(periods)) + 1)) & 1


def tree(periods: int, *, times: int = 1, apart: int = 1) -> Work:
    """The binary tree; for people in several periods a lower bound, at the periods of the worst person of ours."""
    present = np.zeros(periods)
    present[: times * apart : apart] = 1
    levels = range(int(log2(periods)) + 1)
    squares = sum(float(np.square(present.reshape(-1, 2**level).sum(axis=1)).sum()) for level in levels)
    return lambda: sqrt(squares * bits(periods).sum(axis=1).max())


def honaker(periods: int) -> Work:
    """The tree whose nodes are improved by those below them."""
    variances = 1 / (2 - 2.0 ** -np.arange(int(log2(periods)) + 1))
    return lambda: sqrt(len(variances) * (bits(periods) @ variances).max())


def square_root(periods: int, *, times: int = 1, apart: int = 1) -> Work:
    """The square root of A, which needs the whole past."""
    series, person = root_series(periods), np.zeros(periods)
    for shift in range(0, min(times * apart, periods), apart):
        person[shift:] += series[: periods - shift]
    size = float(person @ person)
    return lambda: sqrt(size * float(series @ series))


def root_series(periods: int) -> np.ndarray:
    k = np.arange(1, periods)
    return np.cumprod(np.concatenate([[1.0], (2 * k - 1) / (2 * k)]))


def independent(periods: int, *, times: int = 1, apart: int = 1) -> Work:
    """Noise of its own for every period."""
    del apart
    return lambda: sqrt(times * periods)


def any_horizon() -> Work:
    """The worst ratio to the square root that knew the horizon, at powers of two up to 2^20."""
    from bruit.continual.factorisation import square_root_error
    from bruit.continual.factorisation.any_horizon import ANY_HORIZON, LONGEST, SQUARED_NORM

    errors = np.sqrt(float(SQUARED_NORM) * np.cumsum(ANY_HORIZON.b(LONGEST) ** 2))
    return lambda: max(float(errors[periods - 1]) / square_root_error(periods) for periods in LADDER)


# ---------------------------------------------------------------- simulations
def simulated_ours(periods: int) -> Work:
    from bruit.continual.noise.buffers import empty, rounded, step
    from bruit.randomness import discrete_gaussian

    plan = plan_of(periods, SHIFT)

    def work() -> float:
        buffers, squares = empty(plan.factor, STREAMS), 0.0
        for _ in range(periods):
            fresh = discrete_gaussian(plan.lattice.sigma**2, STREAMS)
            buffers, noise = step(plan.factor, plan.lattice.spare, buffers, fresh)
            squares += float(np.square(rounded(noise, plan.unit).astype(float)).mean())
        return sqrt(squares / periods) * SHIFT

    return work


def simulated_tree(periods: int, *, improved: bool) -> Work:
    """Nodes from the leaves up; an improved one weighs itself with the sum of the two below."""
    rng, levels = np.random.default_rng(), int(log2(periods)) + 1

    def work() -> float:
        below, variance, nodes = None, 1.0, []
        for level in range(levels):
            own = rng.normal(0, sqrt(levels), (periods >> level, STREAMS))
            if improved and below is not None:
                share = 2 * variance / (1 + 2 * variance)
                own = share * own + (1 - share) * (below[0::2] + below[1::2])
                variance = share
            below = own
            nodes.append(own)
        squares = 0.0
        for period in range(1, periods + 1):
            used = [nodes[level][(period >> level) - 1] for level in range(levels) if period >> level & 1]
            squares += float(np.square(sum(used)).mean())
        return sqrt(squares / periods)

    return work


def simulated_square_root(periods: int) -> Work:
    from scipy.signal import fftconvolve

    rng, series = np.random.default_rng(), root_series(periods)

    def work() -> float:
        noise = rng.normal(0, sqrt(float(series @ series)), (periods, STREAMS))
        totals = fftconvolve(noise, series[:, None], axes=0)[:periods]
        return sqrt(float(np.square(totals).mean()))

    return work


def simulated_independent(periods: int) -> Work:
    rng = np.random.default_rng()
    return lambda: sqrt(float(np.square(rng.normal(size=(periods, STREAMS)).cumsum(axis=0)).mean()))


# ---------------------------------------------------------------- what it costs
def sensitivity() -> Work:
    """At most 64 of 4096 periods, in exact integers."""
    from bruit.continual.sensitivity import squared_column_norm

    factor = factor_of(4096)
    return lambda: squared_column_norm(factor, 4096, times=64)


def update() -> Work:
    """Milliseconds of an update of a thousand cells that are not the store's commit; the median of many."""
    import bruit
    from bruit.continual import Histogram, Stream, once

    folder = tempfile.mkdtemp(prefix="bruit-stream-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    terms: Any = {"epsilon": 1, "delta": "1e-6", "neighbours": bruit.ADD_OR_REMOVE_ONE, "person": "id"}
    book = bruit.Ledger("bench", **terms, store=f"sqlite:///{folder}/books.db")
    question = Histogram("cell", bruit.tables.among(range(CELLS), drop_others=True), rows=1)
    budget = book.budget(epsilon=1, delta="1e-6")
    stream = Stream("bench", question, participation=once(), periods=65_536, budget=budget)
    dialect, added, committing = stream._opened.engine.dialect, np.ones(CELLS, np.int64), [0.0]
    commit = dialect.do_commit

    def timed(connection: Any) -> None:
        start = perf_counter()
        commit(connection)
        committing[0] += perf_counter() - start

    dialect.do_commit = timed  # type: ignore[method-assign, assignment]

    def once_updated() -> float:
        start, before = perf_counter(), committing[0]
        stream.update_totals(added)
        return (perf_counter() - start) - (committing[0] - before)

    return lambda: 1000 * float(np.median([once_updated() for _ in range(UPDATES)]))


def peers(periods: int, **often: int) -> tuple[Peer, ...]:
    makers: dict[str, Callable[..., Work]] = {
        "binary tree": tree,
        "square root of A": square_root,
        "independent noise": independent,
    }
    if not often:
        makers["Honaker's tree"] = honaker
    return tuple(Peer(name, partial(make, periods, **often), here=True) for name, make in makers.items())


def error(periods: int, *, goal: float | None = None, words: str = "", **often: int) -> Case:
    name = f"largest error, n = {periods}{words}"
    beside = peers(periods, **often)
    return Case(name, "Δ/√(2ρ)", "lower", partial(ours, periods, **often), beside, goal=goal, returned=True, calls=1)


SIMULATED = (
    Peer("binary tree", partial(simulated_tree, 1024, improved=False), here=True),
    Peer("Honaker's tree", partial(simulated_tree, 1024, improved=True), here=True),
    Peer("square root of A", partial(simulated_square_root, 1024), here=True),
    Peer("independent noise", partial(simulated_independent, 1024), here=True),
)

CASES = [
    error(256, goal=0.335 * 8.485),
    error(1024, goal=3.3),
    error(4096, goal=3.75),
    error(4096, words=", at most 4 periods", times=4),
    error(4096, words=", at most 16 periods", times=16),
    error(4096, words=", 12 times 30 apart", times=12, apart=30),
    Case("worst ratio, unknown horizon", "times", "lower", any_horizon, goal=1.26, returned=True, calls=1),
    Case(
        "simulated mean error, n = 1024",
        "Δ/√(2ρ)",
        "lower",
        partial(simulated_ours, 1024),
        SIMULATED,
        returned=True,
        calls=1,
    ),
    Case("sensitivity, at most 64 of 4096", "s", "lower", sensitivity, goal=1.0, calls=3),
    Case("update of 1000 cells beyond the commit", "ms", "lower", update, goal=1.0, returned=True, calls=1),
]
