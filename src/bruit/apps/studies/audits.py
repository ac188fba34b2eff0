"""Every mechanism, measured from outside on its worst pair of neighbours.

A case is one mechanism at one claim: `mechanism(data, samples, rng)` gives many outputs at once on either half of the
pair. Where the public callable answers once, `once(data, rng)` calls it, and a test holds the two together: from the
same stream the first of many outputs is the one answer. Whoever adds a public callable that takes `budget`, or a local
protocol, adds its cases to `cases()`; a test finds those that are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit import central, local, tables
from bruit.apps.studies.registry import Size
from bruit.audit import Verdict, audit
from bruit.central import histograms, moments, noise
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, LOCAL, REPLACE_ONE, Neighbours

ALARM = 1e-9
"""The chance that any row of the whole list is called wrong although every mechanism is right."""

EPSILON = 1.0
SHARP = 6.0
"""The epsilon of a case whose answer is clamped: with more noise, the ends of its range would hide what it tells."""

PUBLIC_SIZE = 2
View = Callable[[NDArray[Any]], NDArray[Any]]
CENTRAL = (ADD_OR_REMOVE_ONE, REPLACE_ONE)


@dataclass(frozen=True)
class Case:
    """One mechanism at one claim, on a pair of at most four rows that differ in one person."""

    name: str
    neighbours: Neighbours
    pair: tuple[Any, Any]
    mechanism: Callable[[Any, int, np.random.Generator], NDArray[Any]]
    once: Callable[[Any, np.random.Generator], Any] | None = None
    claimed: float = EPSILON
    delta: float = 0.0
    small: int = 20_000
    full: int = 1_000_000


@dataclass(frozen=True)
class Row:
    """A case with what was found."""

    case: Case
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """The row in JSON types: name, neighbours, claimed, lower_bound, verdict, and how it was found."""
        found = self.verdict.to_json()
        passes = found.pop("passes")
        first = {"name": self.case.name, "neighbours": self.case.neighbours.value}
        return {**first, **found, "verdict": "passes" if passes else "fails"}


def run(
    chosen: Sequence[Case] | None = None,
    *,
    size: Size = "full",
    alarm: float = ALARM,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Audits the cases, all of them unless some are chosen; the alarm is shared over the rows."""
    todo = list(cases()) if chosen is None else list(chosen)
    rows = []
    for case in todo:
        samples = case.small if size == "small" else case.full
        verdict = audit(
            case.mechanism,
            case.pair,
            claimed=case.claimed,
            samples=samples,
            alarm=alarm / len(todo),
            delta=case.delta,
            rng=rng,
        )
        rows.append(Row(case, verdict))
        if on_progress is not None:
            on_progress(len(rows), len(todo))
    return rows


def named(names: Sequence[str]) -> list[Case]:
    """The cases of some mechanisms, or of all for no name and for `all`."""
    every = list(cases())
    known = sorted({case.name for case in every})
    unknown = [name for name in names if name != "all" and name not in known]
    if unknown:
        raise InvalidArgument(f"no audit of {', '.join(unknown)}; choose among all, {', '.join(known)}")
    return [case for case in every if not names or "all" in names or case.name in names]


def cases() -> Iterator[Case]:
    """Every case there is."""
    yield from local_cases()
    for neighbours in CENTRAL:
        yield from central_cases(neighbours)


# ---------------------------------------------------------------- local: one respondent's answer, one or another


def local_cases() -> Iterator[Case]:
    """Each local protocol, between its first two answers."""
    few = ["a", "b", "c", "d", "e"]
    yield protocol_case(local.Warner(epsilon=EPSILON))
    for kind in (local.KRR, local.SUE, local.OUE, local.HadamardResponse):
        yield protocol_case(kind(few, epsilon=EPSILON))
    for hashing in (local.OLH, local.BLH):
        protocol = hashing(few, epsilon=EPSILON)
        yield protocol_case(protocol, view=partial(_agreements, buckets=protocol.buckets))


def protocol_case(protocol: local.FrequencyProtocol, *, view: View = np.asarray, claimed: float = EPSILON) -> Case:
    """Reports on the first answer and on the second; `view` keeps what tells these answers apart."""

    def reports(answer: str, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        return view(protocol.randomise(np.full(samples, answer), rng=rng).values)

    first, second = protocol.answers.labels[:2]
    return Case(f"local.{type(protocol).__name__}", LOCAL, (first, second), reports, claimed=claimed)


def _agreements(reports: NDArray[np.uint32], *, buckets: int) -> NDArray[np.bool_]:
    """Whether each of the first two answers hashes into the bucket reported, by the documented hash."""
    factor, shift, bucket = reports.astype(np.uint64).T
    hashed = [((factor * answer + shift) % 2**32 // 2**16 * buckets) // 2**16 for answer in (0, 1)]
    return np.stack([place == bucket for place in hashed], axis=1)


# ---------------------------------------------------------------- central: a table with and without one person


def central_cases(neighbours: Neighbours) -> Iterator[Case]:
    """Each statistic, on a table and its neighbour."""
    words = _pair(neighbours, ["yes", "yes", "yes"], instead="dropped", declare=_yes_or_no)
    yield Case("central.count", neighbours, words, _counts(neighbours), _once(central.count, neighbours))
    words = _pair(neighbours, ["yes", "no", "yes"], instead="no", declare=_yes_or_no)
    yield Case("central.histogram", neighbours, words, _histograms(neighbours), _once(central.histogram, neighbours))
    ends = _pair(neighbours, [10, 10, 10], instead=0, declare=_to_ten)
    yield Case("central.sum", neighbours, ends, _sums(neighbours), _once(central.sum, neighbours))
    middle = _pair(neighbours, [5, 0, 10], instead=0, declare=_to_ten)
    for public, powers in ((central.mean, (1,)), (central.variance, (1, 2))):
        name = f"central.{public.__name__}"
        once = _once(public, neighbours, epsilon=SHARP, size=PUBLIC_SIZE)
        many = _moments(neighbours, powers)
        yield Case(name, neighbours, middle, many, once, claimed=SHARP, small=5_000, full=100_000)


def _pair(
    neighbours: Neighbours, values: list[Any], *, instead: object, declare: Callable[..., tables.Column]
) -> tuple[tables.Column, tables.Column]:
    """The column of these values, and the one without the last, or with another instead of it."""
    others = values[:-1] + ([instead] if neighbours is REPLACE_ONE else [])
    first, second = (
        declare(tables.read(polars.DataFrame({"x": column}), person=EACH_ROW)["x"]) for column in (values, others)
    )
    return first, second


def _yes_or_no(column: tables.UndeclaredColumn) -> tables.Column:
    return column.among(["yes", "no"], drop_others=True)


def _to_ten(column: tables.UndeclaredColumn) -> tables.Column:
    return column.within(0, 10, grid=5, missing=0)


def _budget(neighbours: Neighbours, epsilon: float = EPSILON) -> Budget:
    return Ledger("audit", epsilon=epsilon, neighbours=neighbours, person=EACH_ROW).budget(epsilon=epsilon)


def _once(
    public: Callable[..., Any], neighbours: Neighbours, *, epsilon: float = EPSILON, **settings: Any
) -> Callable[..., Any]:
    return lambda data, rng: public(data, budget=_budget(neighbours, epsilon), rng=rng, **settings).value


def _counts(neighbours: Neighbours) -> Callable[..., NDArray[Any]]:
    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
        loss = noise.bought_noise(_budget(neighbours), sensitivity=column.table.bounds[1])
        return tables.count(column) + noise.draw(loss, samples, rng=rng)

    return many


def _histograms(neighbours: Neighbours) -> Callable[..., NDArray[Any]]:
    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
        sensitivity, entries = histograms.histogram_sensitivity(*column.table.bounds, neighbours)
        loss = noise.bought_noise(_budget(neighbours), sensitivity=sensitivity, entries=entries)
        exact = tables.histogram((column,), key=tables.draw_key(rng))
        return exact + noise.draw(loss, samples * exact.size, rng=rng).reshape(samples, -1)

    return many


def _sums(neighbours: Neighbours) -> Callable[..., NDArray[Any]]:
    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        loss = noise.bought_noise(_budget(neighbours), sensitivity=moments.sum_sensitivity(column, neighbours))
        return (tables.total(column) + noise.draw(loss, samples, rng=rng)) * float(column.numbers.grid)

    return many


def _moments(neighbours: Neighbours, powers: tuple[int, ...]) -> Callable[..., NDArray[Any]]:
    """Mean or variance over a stated size, from the noisy sums of powers."""

    def many(column: tables.Column, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        plan = moments._Moments(column, _budget(neighbours, SHARP), PUBLIC_SIZE, 0.95, powers, "audit")
        exact = [tables.total(column, around=plan.middle, power=power) for power in powers]
        noisy = [value + noise.draw(loss, samples, rng=rng) for value, loss in zip(exact, plan.losses, strict=True)]
        widths = [0] * len(powers)
        return np.array([plan._combined([int(n) for n in row], widths)[0] for row in zip(*noisy, strict=True)])

    return many
