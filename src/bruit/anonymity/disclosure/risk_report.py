"""The disclosure-risk report of a table: identifiers, uniques, k, l, t, linkage, and advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bruit.anonymity.disclosure.equivalence_classes import Kind
from bruit.anonymity.disclosure.identifier_scan import Scan, scan
from bruit.anonymity.disclosure.marginals import Marginal, private_marginals
from bruit.anonymity.disclosure.risks import Risk, risk
from bruit.anonymity.notice import NOT_A_RELEASE
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument

SMALL_GROUP = 5
WORTH_SAYING = 0.01


@dataclass(frozen=True)
class Report:
    """The disclosure-risk report of a table: identifiers, k, l, t, linkage, a private alternative, and advice."""

    scan: Scan
    risk: Risk
    quasi_were_given: bool
    marginals: tuple[Marginal, ...]
    epsilon: float
    advice: tuple[str, ...]
    notice: str = NOT_A_RELEASE

    def to_json(self) -> dict[str, Any]:
        """The report in JSON types."""
        told = dict(vars(self))
        told.update(scan=self.scan.to_json(), risk=self.risk.to_json(), marginals=[vars(one) for one in self.marginals])
        return told


def report(
    table: object,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    epsilon: Exact = 1,
    neighbours: Neighbours = ADD_OR_REMOVE_ONE,
    rng: np.random.Generator | None = None,
) -> Report:
    """Scans a table, measures its risk and plans the private alternative; nothing is released or spent.

    Without `quasi` the sharpest of the smallest sets of columns that single out most rows is taken; where no set does,
    every column that is neither a direct identifier nor sensitive. `epsilon` is only an illustration of a price.
    """
    found = scan(table)
    chosen = tuple(quasi) or _guess(found, sensitive)
    measured = risk(table, chosen, sensitive, kinds=kinds, rng=rng)
    columns = [name for name in found.columns if name not in found.direct]
    main = [name for name in columns if not quasi or name in {*chosen, *sensitive}]
    plan = private_marginals(table, main, epsilon=epsilon, neighbours=neighbours)
    return Report(found, measured, bool(quasi), plan, float(epsilon), _advice(found, measured, plan, float(epsilon)))


def _guess(found: Scan, sensitive: Sequence[str]) -> tuple[str, ...]:
    for one in found.singling:
        if not set(one.columns) & set(sensitive):
            return one.columns
    rest = tuple(name for name in found.columns if name not in {*found.direct, *sensitive})
    if not rest:
        raise InvalidArgument(
            "every column is a direct identifier or sensitive; name the quasi-identifiers with quasi="
        )
    return rest


def _advice(found: Scan, measured: Risk, plan: Sequence[Marginal], epsilon: float) -> tuple[str, ...]:
    said = []
    if found.direct:
        said.append(f"Remove {', '.join(found.direct)}: they name people directly. A keyed hash would not be enough.")
    share = measured.uniques / measured.rows
    quasi = ", ".join(measured.quasi)
    if measured.uniques:
        said.append(
            f"{share:.1%} of the rows are alone on {quasi}: whoever knows these finds the person. "
            "Do not hand out this table row by row."
        )
    elif measured.k < SMALL_GROUP:
        said.append(
            f"The smallest group on {quasi} has {measured.k} rows; make the columns coarser with bruit anonymise."
        )
    said += [
        f"{one.column} is certain for {one.certain / measured.rows:.1%} of the rows without finding the row itself: "
        "their group holds one value only. A larger k does not mend that; ask for l of at least 2."
        for one in measured.sensitive
        if one.certain / measured.rows >= WORTH_SAYING
    ]
    if plan:
        said.append(
            f"Counts by {', '.join(one.column for one in plan)} could be released instead at ε = {epsilon:g} in all, "
            f"each off by at most ±{plan[0].error:g} with 95 % confidence: bruit release --histogram."
        )
    return tuple(said) or ("Nothing stands out; that is no guarantee. Only noise with an ε gives one.",)
