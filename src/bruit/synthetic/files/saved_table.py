"""Keeps a synthetic table whole in one file: its rows and the noisy counts that its intervals come from."""

from __future__ import annotations

import json
import re
from dataclasses import astuple
from fractions import Fraction
from itertools import pairwise
from math import comb, inf, isfinite, prod
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bruit.core import guarantee_from_json
from bruit.core.arguments import is_whole, whole
from bruit.errors import BadFile, MissingData
from bruit.privacy import Neighbours
from bruit.synthetic.accuracy.estimates import Measurements
from bruit.synthetic.accuracy.misfit import Misfit
from bruit.synthetic.coding import MOST_CELLS, CodedColumn
from bruit.synthetic.fitting import Fit, possible_row
from bruit.synthetic.gibbs import Impossible, Measured
from bruit.synthetic.plan import Mode, NoisePlan, PublicNumbers
from bruit.synthetic.synthesis import Rehearsal
from bruit.synthetic.synthetic_table import MOST_ORDER, MOST_ROWS, SyntheticTable
from bruit.tables import domain_from_json

FORMAT: Final = "bruit synthetic table 3"
EXACT: Final = ("singles", "pairs", "choice", "audit")
"""The parts of a plan that are fractions."""

HUGE: Final = re.compile(r"[-+.\d]*e[-+]?\d+", re.IGNORECASE)
"""Numbers with exponents, which `save` never writes: a short text may stand for one that fills the memory."""


def save(table: SyntheticTable, path: str | Path) -> Path:
    """Writes a synthetic table to a file that `load` reads: it answers the same questions with the same intervals.

    Everything in the file may be published. It holds NumPy arrays: rows, noisy counts, and the rest as JSON.
    """
    target = Path(path)
    draft = target.with_name(f"{target.name}.new")
    noisy = np.concatenate([one.noisy for one in table.fit.measured])
    about = np.frombuffer(json.dumps(_describe(table)).encode(), np.uint8)
    with draft.open("wb") as file:
        np.savez_compressed(file, rows=table.rows, noisy=noisy, about=about)
    return draft.replace(target)


def load(path: str | Path) -> SyntheticTable:
    """Reads a synthetic table from a file that `save` wrote.

    The file may come from anybody: it holds no code, and whatever does not fit together is refused.
    """
    refused = BadFile(f"{path}: no synthetic table that bruit.synthetic.save of this version wrote, or a damaged one")
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as held:
            rows, noisy, about = (held[name] for name in ("rows", "noisy", "about"))
        described = json.loads(about.tobytes())
        _require(described["format"] == FORMAT)
        return _rebuild(described, rows, noisy)
    except FileNotFoundError:
        raise MissingData(f"{path}: no such file") from None
    except Exception as error:  # a damaged archive fails in a dozen ways
        raise refused from error


def _describe(table: SyntheticTable) -> dict[str, Any]:
    """All but rows and noisy counts, in JSON types."""
    again = table.again
    assert isinstance(again, Rehearsal)
    asked = again.plan.question
    return {
        "format": FORMAT,
        "columns": [column.to_json() for column in table.columns],
        "guarantee": table.guarantee.to_json(),
        "people": table.fit.people,
        "measured": [[list(one.clique), one.variance, one.belief] for one in table.fit.measured],
        "size": again.size,
        "audited": [[order, *astuple(misfit)] for order, misfit in table.audited.items()],
        "impossible": [[list(each.clique), np.flatnonzero(each.cells).tolist()] for each in again.impossible],
        "public": vars(asked) | {"neighbours": asked.neighbours.value},
        "picks": again.plan.picks,
        "noise": {name: _text(getattr(again.plan, name)) for name in EXACT},
        "state": table.state,
    }


def _rebuild(held: dict[str, Any], rows: NDArray[np.uint8], noisy: NDArray[np.int64]) -> SyntheticTable:
    texts = [
        text for each in (*(one["domain"] for one in held["columns"]), held["guarantee"]) for text in each.values()
    ]
    _require(not any(isinstance(text, str) and HUGE.fullmatch(text) for text in texts))
    columns = tuple(
        CodedColumn(each["name"], domain_from_json(each["domain"]), tuple(each["firsts"])) for each in held["columns"]
    )
    sizes = tuple(column.size for column in columns)
    plan = _plan(held)
    cliques = [tuple(clique) for clique, *_ in held["measured"] + held["impossible"]]
    _require(all(_is_coded(column) for column in columns))
    _require(rows.dtype == np.uint8 and rows.ndim == 2 and rows.shape[1] == len(sizes) and (rows < sizes).all())
    _require(all(_is_clique(clique, len(sizes)) for clique in cliques) and plan.question.sizes == sizes)
    cells = [prod(sizes[i] for i in clique) for clique in cliques]
    parts = np.split(noisy, np.cumsum(cells[: len(held["measured"])])[:-1])
    measured = tuple(
        Measured(clique, part, _positive(variance), _positive(belief))
        for clique, part, (_, variance, belief) in zip(cliques, parts, held["measured"], strict=False)
    )
    _require(noisy.dtype == np.int64 and all(one.noisy.shape == (n,) for one, n in zip(measured, cells, strict=False)))
    impossible = []
    for (clique, places), many in zip(held["impossible"], cells[len(measured) :], strict=True):
        known = np.zeros(many, bool)
        known[places] = True
        impossible.append(Impossible(tuple(clique), known))
    _require(possible_row(impossible, np.array(sizes)) is not None)
    size = None if held["size"] is None else whole(held["size"], "size", most=MOST_ROWS)
    return SyntheticTable(
        columns,
        Fit(np.ascontiguousarray(rows), _positive(held["people"]), measured),
        guarantee_from_json(held["guarantee"]),
        Measurements(measured, sizes, size),
        {whole(order, "order", most=MOST_ORDER): _misfit(*numbers) for order, *numbers in held["audited"]},
        Rehearsal(plan, size, tuple(impossible)),
        whole(held["state"], "state", most=2**62),
    )


def _require(holds: object) -> None:
    if not holds:
        raise ValueError


def _is_coded(column: CodedColumn) -> bool:
    """Whether the cells of a column are cuts of its domain that a byte holds."""
    ends = (*column.firsts, column.domain.lowest + column.domain.size)
    rising = all(is_whole(a) and a < b for a, b in pairwise(ends))
    return rising and column.firsts[0] == column.domain.lowest and column.size <= MOST_CELLS


def _is_clique(clique: tuple[Any, ...], columns: int) -> bool:
    """Whether these are one to three columns in increasing order."""
    rising = all(a < b for a, b in pairwise((-1, *clique, columns)))
    return rising and 1 <= len(clique) <= MOST_ORDER and all(map(is_whole, clique))


def _misfit(small: float, large: float, deviation: float) -> Misfit:
    _require(all(map(isfinite, (small, large))))
    return Misfit(float(small), float(large), _positive(deviation))


def _positive(value: float) -> float:
    _require(0 < value < inf)
    return float(value)


def _plan(held: dict[str, Any]) -> NoisePlan:
    public = held["public"]
    stated = {"sizes": tuple(public["sizes"]), "neighbours": Neighbours(public["neighbours"])}
    question = PublicNumbers(**public | stated | {"mode": Mode(public["mode"])})
    noise = {name: Fraction(*map(int, text.split("/"))) for name, text in held["noise"].items() if text is not None}
    _require(all(value > 0 for value in noise.values()))
    whole(question.rows, "rows")
    whole(held["picks"], "picks", least=0, most=comb(len(question.sizes), 2))
    _require(question.frozen in range(len(question.sizes)))
    _require(question.target is None or question.target in range(len(question.sizes)))
    return NoisePlan(question, held["picks"], **{"choice": None, **noise})  # type: ignore[arg-type]


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)
