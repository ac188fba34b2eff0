"""Keeps a synthetic table whole in one file: its rows and the noisy counts that its intervals come from."""

from __future__ import annotations

import json
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from bruit.core import guarantee_from_json
from bruit.errors import BadFile, MissingData
from bruit.privacy import Neighbours
from bruit.synthetic.accuracy.estimates import Measurements
from bruit.synthetic.coding import CodedColumn
from bruit.synthetic.fitting import Fit
from bruit.synthetic.gibbs import Impossible, Measured
from bruit.synthetic.plan import Mode, NoisePlan, PublicNumbers
from bruit.synthetic.synthesis import Rehearsal
from bruit.synthetic.synthetic_table import SyntheticTable
from bruit.tables import domain_from_json

FORMAT: Final = "bruit synthetic table 1"
EXACT: Final = ("singles", "pairs", "choice", "audit")
"""The parts of a plan that are fractions."""


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
    """Reads a synthetic table from a file that `save` wrote."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as held:
            rows, noisy, about = (held[name] for name in ("rows", "noisy", "about"))
        described = json.loads(about.tobytes())
    except FileNotFoundError:
        raise MissingData(f"{path}: no such file") from None
    except (OSError, ValueError, KeyError, BadZipFile):
        described = {}
    if described.get("format") != FORMAT:
        raise BadFile(f"{path}: no synthetic table that bruit.synthetic.save of this version wrote")
    return _rebuild(described, rows, noisy)


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
        "measured": [[list(one.clique), one.variance] for one in table.fit.measured],
        "size": again.size,
        "audited": list(table.audited.items()),
        "impossible": [[list(each.clique), np.flatnonzero(each.cells).tolist()] for each in again.impossible],
        "public": vars(asked) | {"neighbours": asked.neighbours.value},
        "picks": again.plan.picks,
        "noise": {name: _text(getattr(again.plan, name)) for name in EXACT},
        "state": table.state,
    }


def _rebuild(held: dict[str, Any], rows: NDArray[np.uint8], noisy: NDArray[np.int64]) -> SyntheticTable:
    columns = tuple(
        CodedColumn(each["name"], domain_from_json(each["domain"]), tuple(each["firsts"])) for each in held["columns"]
    )
    sizes = tuple(column.size for column in columns)
    cliques = [tuple(clique) for clique, _ in held["measured"]]
    ends = np.cumsum([prod(sizes[i] for i in clique) for clique in cliques])
    parts = np.split(noisy, ends[:-1])
    measured = tuple(
        Measured(clique, part, variance)
        for clique, part, (_, variance) in zip(cliques, parts, held["measured"], strict=True)
    )
    impossible = []
    for clique, places in held["impossible"]:
        cells = np.zeros(prod(sizes[i] for i in clique), bool)
        cells[places] = True
        impossible.append(Impossible(tuple(clique), cells))
    return SyntheticTable(
        columns,
        Fit(rows, held["people"], measured),
        guarantee_from_json(held["guarantee"]),
        Measurements(measured, sizes, held["size"]),
        dict(held["audited"]),
        Rehearsal(_plan(held), held["size"], tuple(impossible)),
        held["state"],
    )


def _plan(held: dict[str, Any]) -> NoisePlan:
    public = held["public"]
    stated = {"sizes": tuple(public["sizes"]), "neighbours": Neighbours(public["neighbours"])}
    question = PublicNumbers(**public | stated | {"mode": Mode(public["mode"])})
    noise = {name: Fraction(text) for name, text in held["noise"].items() if text is not None}
    return NoisePlan(question, held["picks"], **{"choice": None, **noise})  # type: ignore[arg-type]


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)
