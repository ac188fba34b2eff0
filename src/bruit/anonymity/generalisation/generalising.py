"""Generalises a table until no equivalence class is too small; reports the information lost and remaining risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.anonymity.coded import Coded, encode_column, frame_of, join_codes
from bruit.anonymity.disclosure.equivalence_classes import Kind, group_rows
from bruit.anonymity.disclosure.risks import Risk, measure_risk
from bruit.anonymity.generalisation.hierarchies import SUPPRESSED, Hierarchy, levels
from bruit.anonymity.generalisation.lattice import Wanted, lattice
from bruit.anonymity.generalisation.mondrian import boxes
from bruit.anonymity.notice import NOT_A_RELEASE
from bruit.errors import InvalidArgument, NotPrivate

Method = Literal["lattice", "mondrian"]


@dataclass(frozen=True)
class Generalised:
    """A coarser table, the information it lost and its remaining risk; k-anonymity is no privacy guarantee.

    `frame` holds the quasi-identifiers, the sensitive column and what was asked to be kept, in the order of the rows
    that stay. `loss` is the mean over rows and columns of (values under one name - 1) / (values - 1), a suppressed row
    counting 1. `levels` are the chosen levels of a lattice; with `proved`, no other choice loses less.
    """

    frame: polars.DataFrame = field(repr=False)
    method: Method
    loss: float
    suppressed: int
    risk: Risk
    levels: dict[str, int] | None = None
    proved: bool = False
    notice: str = NOT_A_RELEASE

    def to_json(self) -> dict[str, Any]:
        """Everything but the rows, in JSON types."""
        told = {name: value for name, value in vars(self).items() if name != "frame"}
        return {**told, "risk": self.risk.to_json()}


def generalise(
    table: object,
    hierarchies: Mapping[str, Hierarchy | None] | Sequence[str],
    *,
    k: int,
    l: int = 1,  # noqa: E741  the letter of the literature
    t: float = 1.0,
    sensitive: str | None = None,
    kind: Kind | None = None,
    suppress: float = 0.0,
    method: Method = "lattice",
    keep: Sequence[str] = (),
    rng: np.random.Generator | None = None,
) -> Generalised:
    """Makes quasi-identifiers coarser until the table is k-anonymous (and l-diverse, and t-close, if asked).

    `hierarchies` names the quasi-identifiers, each with how it becomes coarser (None: all or nothing). "lattice" gives
    every column one level, and proves that no combination loses less; up to the share `suppress` of the rows may be
    left out. "mondrian" cuts boxes and ignores hierarchies: a smaller loss, no proof, no t. Every other column is
    left out unless it is in `keep`.                               [Samarati 2001; LeFevre et al. 2006]
    """
    names = list(hierarchies)
    hidden = [] if sensitive is None else [sensitive]
    _check(names, k, l, t, suppress, method, hidden)
    frame = frame_of(table, list(dict.fromkeys([*names, *hidden, *keep])))
    if frame.height < k:
        raise NotPrivate(f"k={k}: the table has fewer rows than that; no coarser table can have groups of {k}")
    columns = [encode_column(frame[name]).ordered() for name in names]
    secret = None if sensitive is None else encode_column(frame[sensitive]).ordered()
    how = kind or ("categorical" if secret is None or secret.numbers is None else "ordered")
    wanted = Wanted(k, l, t, suppress, how)
    if method == "mondrian":
        return _by_mondrian(frame, columns, secret, wanted, rng)
    given = hierarchies if isinstance(hierarchies, Mapping) else dict.fromkeys(names)
    return _by_lattice(frame, columns, secret, wanted, given, rng)


def _by_lattice(
    frame: polars.DataFrame,
    columns: list[Coded],
    secret: Coded | None,
    wanted: Wanted,
    hierarchies: Mapping[str, Hierarchy | None],
    rng: np.random.Generator | None,
) -> Generalised:
    every = [levels(column, hierarchies[column.name]) for column in columns]
    search = lattice(columns, every, secret)
    node = search.best(wanted)
    if node is None:
        raise NotPrivate(
            f"no combination of levels keeps k={wanted.k}, l={wanted.l}, t={wanted.t:g} with at most "
            f"{wanted.suppress:.1%} of the rows left out; allow a larger suppress= or ask for less"
        )
    chosen = [levels[place] for levels, place in zip(every, node.levels, strict=True)]
    codes = [level.codes[column.codes] for level, column in zip(chosen, columns, strict=True)]
    kept = _keep_rows(codes, [level.size for level in chosen], secret, wanted)
    names = [list(level.names) for level in chosen]
    found = {column.name: level for column, level in zip(columns, node.levels, strict=True)}
    risk = _risk([part[kept] for part in codes], [level.size for level in chosen], columns, secret, wanted, kept, rng)
    coarse = _write_names(frame, columns, codes, names).filter(polars.Series(kept))
    return Generalised(coarse, "lattice", node.loss, int((~kept).sum()), risk, found, proved=True)


def _keep_rows(
    codes: list[NDArray[np.int64]], sizes: list[int], secret: Coded | None, wanted: Wanted
) -> NDArray[np.bool_]:
    """Which rows stand in groups that meet the wanted k, l and t."""
    values = 1 if secret is None else secret.size
    keys = join_codes(list(zip(codes, sizes, strict=True)), len(codes[0]), room=values)
    groups = group_rows(keys, secret)
    return wanted.holds(groups, None if secret is None else secret.numbers)[np.searchsorted(groups.keys, keys)]


def _by_mondrian(
    frame: polars.DataFrame,
    columns: list[Coded],
    secret: Coded | None,
    wanted: Wanted,
    rng: np.random.Generator | None,
) -> Generalised:
    found = boxes(columns, secret, k=wanted.k, l=wanted.l)
    if secret is not None and len(np.unique(secret.codes)) < wanted.l:
        raise NotPrivate(
            f"l={wanted.l}: {secret.name!r} has fewer different values in the whole table; ask for a smaller l"
        )
    codes = [found.part.astype(np.int64)] * len(columns)
    names = [found.names(number, column) for number, column in enumerate(columns)]
    kept = np.ones(len(found.part), bool)
    risk = _risk(codes[:1], [len(found.low)], columns, secret, wanted, kept, rng)
    return Generalised(_write_names(frame, columns, codes, names), "mondrian", found.loss, 0, risk)


def _risk(
    codes: list[NDArray[np.int64]],
    sizes: list[int],
    columns: list[Coded],
    secret: Coded | None,
    wanted: Wanted,
    kept: NDArray[np.bool_],
    rng: np.random.Generator | None,
) -> Risk:
    values = 1 if secret is None else secret.size
    keys = join_codes(list(zip(codes, sizes, strict=True)), len(codes[0]), room=values)
    secrets = {} if secret is None else {secret.name: Coded(secret.name, secret.codes[kept], secret.labels)}
    quasi = [column.name for column in columns]
    return measure_risk(keys, secrets, quasi=quasi, kinds=dict.fromkeys(secrets, wanted.kind), rng=rng)


def _write_names(
    frame: polars.DataFrame, columns: list[Coded], codes: list[NDArray[np.int64]], names: list[list[str]]
) -> polars.DataFrame:
    """The frame with generalised names in place of the values."""
    coarse = [
        polars.Series(column.name, texts or [SUPPRESSED], dtype=polars.String).gather(part)
        for column, part, texts in zip(columns, codes, names, strict=True)
    ]
    return frame.with_columns(coarse)


def _check(
    names: list[str],
    k: int,
    l: int,  # noqa: E741
    t: float,
    suppress: float,
    method: str,
    hidden: list[str],
) -> None:
    if not names or set(names) & set(hidden):
        raise InvalidArgument("name at least one quasi-identifier; the sensitive column cannot be one of them")
    if k < 1 or l < 1 or not 0 < t <= 1 or not 0 <= suppress < 1:
        raise InvalidArgument(
            f"k={k}, l={l}, t={t}, suppress={suppress}: give k ≥ 1, l ≥ 1, 0 < t ≤ 1, 0 ≤ suppress < 1"
        )
    if (l > 1 or t < 1) and not hidden:
        raise InvalidArgument("l and t speak of a sensitive column: give sensitive=")
    if method not in ("lattice", "mondrian"):
        raise InvalidArgument(f"method={method!r}: choose lattice or mondrian")
    if method == "mondrian" and (t < 1 or suppress > 0):
        raise InvalidArgument("mondrian neither keeps t nor leaves rows out: use method='lattice'")
