"""Runs the audits of every mechanism, each on its worst pair of neighbours.

A case is one mechanism at one claim: `mechanism(data, samples, rng)` gives many outputs at once on either half of the
pair. Where the public callable answers once, `once(data, rng)` calls it, and a test holds the two together: from the
same stream the first of many outputs is the one answer. Whoever adds a public callable that takes `budget`, or a local
protocol, adds its cases to `central`, `local` or a module beside them; a test finds those that miss.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bruit.apps.audits import (
    aggregation,
    central,
    continual,
    correlated_noise,
    deep,
    heads,
    learning,
    local,
    nearest_neighbours,
    one_run,
    synthetic,
    trees,
)
from bruit.apps.audits.case import Case
from bruit.apps.audits.questions import every_question
from bruit.apps.audits.side_by_side import side_by_side
from bruit.apps.extras import has_extra, require_extras
from bruit.apps.findings import Size
from bruit.audit import Verdict
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE, Neighbours
from bruit.errors import InvalidArgument

ALARM = 1e-9
"""The chance that any row of the whole list is called wrong although every mechanism is right."""

CENTRAL = (ADD_OR_REMOVE_ONE, REPLACE_ONE)

OPTIONAL: dict[str, tuple[Any, ...]] = {
    "learn": (learning, nearest_neighbours, trees),
    "deep": (correlated_noise, deep, heads, one_run),
}
"""Modules whose cases need an extra."""

PACKAGES = {"learn": "learning", "deep": "deep"}
"""What an extra is for: the package of bruit whose mechanisms are audited only with it."""


@dataclass(frozen=True)
class Row:
    """An audit case with its verdict."""

    case: Case
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """The row in JSON types: name, neighbours, claimed, lower_bound, verdict, and how the bound was found."""
        found = self.verdict.to_json()
        passes = found.pop("passes")
        first = {"name": self.case.name, "variant": self.case.variant, "neighbours": self.case.neighbours.value}
        return {**first, **found, "verdict": "passes" if passes else "fails"}


def run(
    chosen: Sequence[Case] | None = None,
    *,
    size: Size = "full",
    alarm: float = ALARM,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    workers: int = 1,
) -> list[Row]:
    """Audits the chosen cases, or all; the false-alarm probability `alarm` is shared over them.

    With several `workers` as many processes measure side by side; what a seed gives is the same.
    """
    todo = list(cases()) if chosen is None else list(chosen)
    seed = None if rng is None else int(rng.integers(2**63))
    asked = [Asked(case.small if size == "small" else case.full, alarm / len(todo), seed) for case in todo]
    named = [((case.label, case.neighbours), each) for case, each in zip(todo, asked, strict=True)]
    measured = map(_measure, todo, asked) if workers == 1 else side_by_side(_measure_named, named, workers)
    found: list[Verdict] = []
    for verdict in measured:
        found.append(verdict)
        if on_progress is not None:
            on_progress(len(found), len(todo))
    return [Row(case, verdict) for case, verdict in zip(todo, found, strict=True)]


class Asked(NamedTuple):
    """How many samples, at which alarm, from which seed."""

    samples: int
    alarm: float
    seed: int | None


def _measure(case: Case, asked: Asked) -> Verdict:
    return case.audit(asked.samples, asked.alarm, None if asked.seed is None else case.stream(asked.seed))


def _measure_named(named: tuple[tuple[str, Neighbours], Asked]) -> Verdict:
    """In another process: cases hold functions that cannot be sent, so that each process makes its own list."""
    key, asked = named
    return _measure(_listed()[key], asked)


@cache
def _listed() -> dict[tuple[str, Neighbours], Case]:
    return {(case.label, case.neighbours): case for case in cases()}


def cases_named(names: Sequence[str]) -> list[Case]:
    """The cases of the named mechanisms; of all where no name or `all` is given."""
    every = list(cases())
    known = sorted({case.name for case in every})
    unknown = [name for name in names if name != "all" and name not in known]
    for extra, package in PACKAGES.items():
        if any(name.startswith(f"{package}.") for name in unknown):
            require_extras(f"an audit of bruit.{package}", extra)
    if unknown:
        raise InvalidArgument(f"no audit of {', '.join(unknown)}; choose among all, {', '.join(known)}")
    return [case for case in every if not names or "all" in names or case.name in names]


def left_out() -> list[str]:
    """What is not audited because its extra is not installed, with the install that brings it."""
    return [
        f"bruit.{package} is not audited here: pip install 'bruit[{extra}]'"
        for extra, package in PACKAGES.items()
        if not has_extra(extra)
    ]


def cases() -> Iterator[Case]:
    """Every audit case of the packages that are installed."""
    yield from local.cases()
    for neighbours in CENTRAL:
        yield from central.cases(neighbours)
        yield from continual.cases(neighbours)
        yield from aggregation.cases(neighbours)
        yield from synthetic.cases(neighbours)
        yield from every_question.cases(neighbours)
        for part in (part for extra, parts in OPTIONAL.items() if has_extra(extra) for part in parts):
            yield from part.cases(neighbours)
