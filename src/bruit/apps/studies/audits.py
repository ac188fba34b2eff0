"""Every mechanism, measured from outside on its worst pair of neighbours.

A case is one mechanism at one claim: `mechanism(data, samples, rng)` gives many outputs at once on either half of the
pair. Where the public callable answers once, `once(data, rng)` calls it, and a test holds the two together: from the
same stream the first of many outputs is the one answer. Whoever adds a public callable that takes `budget`, or a local
protocol, adds its cases to `central_audits`, `local_audits` or a module beside them; a test finds those that miss.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from bruit.apps.studies import (
    banded_audits,
    central_audits,
    deep_audits,
    head_audits,
    learning_audits,
    local_audits,
    neighbour_audits,
    one_run_audits,
    tree_audits,
)
from bruit.apps.studies.audit_case import Case
from bruit.apps.studies.registry import Size
from bruit.audit import Verdict
from bruit.errors import InvalidArgument
from bruit.privacy import ADD_OR_REMOVE_ONE, REPLACE_ONE

ALARM = 1e-9
"""The chance that any row of the whole list is called wrong although every mechanism is right."""

CENTRAL = (ADD_OR_REMOVE_ONE, REPLACE_ONE)

OPTIONAL: dict[str, tuple[Any, ...]] = {
    "sklearn": (learning_audits, neighbour_audits, tree_audits),
    "torch": (banded_audits, deep_audits, head_audits, one_run_audits),
}
"""Modules whose cases need a package that may be missing."""


@dataclass(frozen=True)
class Row:
    """A case with what was found."""

    case: Case
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """The row in JSON types: name, neighbours, claimed, lower_bound, verdict, and how it was found."""
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
) -> list[Row]:
    """Audits the cases, all of them unless some are chosen; the alarm is shared over the rows."""
    todo = list(cases()) if chosen is None else list(chosen)
    rows = []
    seed = None if rng is None else int(rng.integers(2**63))
    for case in todo:
        samples = case.small if size == "small" else case.full
        stream = None if seed is None else case.stream(seed)
        rows.append(Row(case, case.audited(samples, alarm / len(todo), stream)))
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
    """Every case there is, of the parts that are installed."""
    yield from local_audits.cases()
    for neighbours in CENTRAL:
        yield from central_audits.cases(neighbours)
        for extra, parts in OPTIONAL.items():
            if find_spec(extra) is not None:
                for part in parts:
                    yield from part.cases(neighbours)
