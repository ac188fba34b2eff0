"""How often intervals of a synthetic table hold the true count: 1000 random counts of one to three columns of Adult."""

from __future__ import annotations

from typing import Any

from benchmarks.case import Case, Prepare, Work
from benchmarks.synthetic.adult import DELTA, NAMES, coded

QUESTIONS = 1000
SYNTHESES = 8
"""Single syntheses scatter by .02, as all questions about a column share its noise; their mean by a third of that."""


def coverage(epsilon: float, *, around: str) -> Prepare:
    """How far from 95 % the covered share is: its mean over eight syntheses, questions around random rows."""

    def prepare() -> Work:
        import numpy as np
        import polars

        import bruit
        from bruit.synthetic.accuracy.rehearsals import count_rows, draw_box
        from bruit.tables import within

        cells, sizes = coded()
        truth = cells.astype(np.uint8)
        table = bruit.tables.read(polars.DataFrame(dict(zip(NAMES, cells.T, strict=True))), person=bruit.EACH_ROW)
        columns = {name: within(0, size - 1, grid=1, missing=0) for name, size in zip(NAMES, sizes, strict=True)}
        edges = {name: list(range(1, size)) for name, size in zip(NAMES, sizes, strict=True)}
        terms: dict[str, Any] = {"neighbours": bruit.ADD_OR_REMOVE_ONE, "person": bruit.EACH_ROW}

        def once() -> float:
            price = bruit.Ledger("b", epsilon=epsilon, delta=DELTA, **terms).budget(epsilon=epsilon, delta=DELTA)
            made = bruit.synthetic.synthesise(table, columns, edges=edges, budget=price).value
            rng, inside = np.random.default_rng(), 0
            for number in range(QUESTIONS):
                rows = truth if around == "true" else made.rows
                box = draw_box(rows, np.array(sizes), 1 + number % 3, rng)
                low, high = made.bounds(box, 0.95)
                inside += low <= count_rows(truth, box) <= high
            return inside / QUESTIONS

        return lambda: abs(float(np.mean([once() for _ in range(SYNTHESES)])) - 0.95)

    return prepare


CASES = [
    Case(
        f"coverage of 95 % around {around} rows, ε = {epsilon:g}",
        "off by",
        "lower",
        coverage(epsilon, around=around),
        goal=0.02,
        returned=True,
        calls=1,
        rounds=1,
    )
    for around in ("true", "synthetic")
    for epsilon in (0.5, 1.0, 2.0, 3.0)
]
