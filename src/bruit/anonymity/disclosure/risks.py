"""Measures how much a table discloses about people whose quasi-identifiers an attacker knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.anonymity.coded import Coded, encode_column, frame_of, join_columns
from bruit.anonymity.disclosure.equivalence_classes import KINDS, Groups, Kind, distances, group_rows
from bruit.anonymity.notice import NOT_A_RELEASE
from bruit.errors import InvalidArgument
from bruit.randomness import generator

KNOWN = 0.1
"""The share of people whom the simulated attacker knows."""


@dataclass(frozen=True)
class Disclosure:
    """How much equivalence classes disclose about one sensitive column: l-diversity, t-closeness, sure guesses.

    `l` is the least number of different values in a group, `entropy_l` the exponential of the least entropy, `t` the
    largest of `distances`. `certain` rows stand in groups with a single value: whoever finds the group knows it.
    `impossible` counts the pairs of a group and a value that the group rules out, `ruled_out` is the mean share of
    values ruled out for a row. An attacker who names the commonest value of the group is right for the share `guessed`
    of the rows, and for `guessed_blindly` without looking at groups.
    """

    column: str
    kind: Kind
    l: int  # noqa: E741  the letter of the literature
    entropy_l: float
    t: float
    certain: int
    impossible: int
    ruled_out: float
    guessed: float
    guessed_blindly: float
    distances: NDArray[np.float64] = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """The aggregates in JSON types; the distances of single groups are left out."""
        return {name: value for name, value in vars(self).items() if name != "distances"}


@dataclass(frozen=True)
class Linkage:
    """The result of an attack: for `known` people's quasi-identifiers, how often the right row was guessed.

    `right` were found by the draws, `certain` had a group of their own; `expected` is the chance of a right name for a
    person chosen at random, groups / rows.
    """

    known: int
    right: int
    certain: int
    expected: float

    def to_json(self) -> dict[str, Any]:
        """The result in JSON types."""
        return dict(vars(self))


@dataclass(frozen=True)
class Risk:
    """The disclosure risk of a table; exact, for its curator, not to be published.

    `k` is the size of the smallest group of rows that agree on the quasi-identifiers; `uniques` rows stand alone.
    """

    quasi: tuple[str, ...]
    rows: int
    groups: int
    k: int
    uniques: int
    linkage: Linkage
    sensitive: tuple[Disclosure, ...]
    notice: str = NOT_A_RELEASE

    def to_json(self) -> dict[str, Any]:
        """The risk in JSON types."""
        told = dict(vars(self))
        told.update(linkage=self.linkage.to_json(), sensitive=[one.to_json() for one in self.sensitive])
        return told

    def __getitem__(self, column: str) -> Disclosure:
        for one in self.sensitive:
            if one.column == column:
                return one
        raise InvalidArgument(f"{column!r} is not among the sensitive columns {[one.column for one in self.sensitive]}")


def risk(
    table: object,
    quasi: Sequence[str],
    sensitive: Sequence[str] | str = (),
    *,
    kinds: Mapping[str, Kind] | None = None,
    known: float = KNOWN,
    rng: np.random.Generator | None = None,
) -> Risk:
    """Measures k-anonymity, l-diversity, t-closeness and linkage risk of a table.

    `kinds` says how a sensitive column is compared; by default numbers are "ordered" and texts "categorical". A missing
    value counts as a value of its own. `known` is the share of people whom the attacker of `linkage` knows.
                    [Sweeney 2002; Machanavajjhala et al. 2007; Li, Li & Venkatasubramanian 2007]

    >>> import polars
    >>> patients = polars.DataFrame({
    ...     "postcode": ["130**", "130**", "148**", "148**", "149**", "149**"],
    ...     "age": ["<30", "<30", "30-39", "30-39", "40+", "40+"],
    ...     "illness": ["cancer", "cancer", "flu", "angina", "flu", "asthma"],
    ... })
    >>> found = risk(patients, ["postcode", "age"], "illness")
    >>> found.k, found["illness"].l, round(found["illness"].t, 3)
    (2, 1, 0.667)
    >>> sorted(found["illness"].distances.round(3).tolist())
    [0.5, 0.5, 0.667]
    """
    names = _names(quasi, sensitive, kinds, known)
    frame = frame_of(table, [*quasi, *names])
    if not frame.height:
        raise InvalidArgument("the table has no rows: there is nobody to protect and nothing to measure")
    columns = {name: encode_column(frame[name]) for name in frame.columns}
    del frame
    secrets = {name: columns[name].ordered() for name in names}
    room = max([secret.size for secret in secrets.values()], default=1)
    keys = join_columns([columns[name] for name in quasi], len(columns[quasi[0]].codes), room=room)
    del columns
    return measure_risk(keys, quasi=quasi, secrets=secrets, kinds=kinds or {}, known=known, rng=rng)


def measure_risk(
    keys: NDArray[np.int64],
    *,
    quasi: Sequence[str],
    secrets: Mapping[str, Coded],
    kinds: Mapping[str, Kind],
    known: float = KNOWN,
    rng: np.random.Generator | None = None,
) -> Risk:
    """The risk of a table whose quasi-identifiers were already joined into one integer key per row."""
    every = [group_rows(keys, secret) for secret in secrets.values()]
    groups = every[0] if every else group_rows(keys)
    found = [
        disclosure(one, secret, kinds.get(name)) for one, (name, secret) in zip(every, secrets.items(), strict=True)
    ]
    return Risk(
        quasi=tuple(quasi),
        rows=len(keys),
        groups=len(groups.keys),
        k=int(groups.sizes.min()),
        uniques=int((groups.sizes == 1).sum()),
        linkage=_link(keys, groups, known, generator(rng)),
        sensitive=tuple(found),
    )


def disclosure(groups: Groups, secret: Coded, kind: Kind | None = None) -> Disclosure:
    """Measures how much equivalence classes disclose about a sensitive column, whose labels are in order."""
    kind = kind or ("categorical" if secret.numbers is None else "ordered")
    apart = distances(groups, kind, secret.numbers)
    distinct = groups.distinct
    most = np.maximum.reduceat(groups.count, groups.starts)
    return Disclosure(
        column=secret.name,
        kind=kind,
        l=int(distinct.min()),
        entropy_l=float(np.exp(groups.entropies.min())),
        t=float(apart.max()),
        certain=int(groups.sizes[distinct == 1].sum()),
        impossible=int((groups.values - distinct).sum()),
        ruled_out=float(((groups.values - distinct) * groups.sizes).sum() / groups.values / groups.rows),
        guessed=float(most.sum() / groups.rows),
        guessed_blindly=float(groups.overall.max()),
        distances=apart,
    )


def _link(keys: NDArray[np.int64], groups: Groups, known: float, rng: np.random.Generator) -> Linkage:
    people = rng.choice(len(keys), size=max(1, round(known * len(keys))), replace=False, shuffle=False)
    sizes = groups.sizes[np.searchsorted(groups.keys, keys[people])]
    right = rng.integers(0, sizes) == 0
    return Linkage(len(people), int(right.sum()), int((sizes == 1).sum()), len(groups.keys) / len(keys))


def _names(
    quasi: Sequence[str], sensitive: Sequence[str] | str, kinds: Mapping[str, Kind] | None, known: float
) -> list[str]:
    names = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    if isinstance(quasi, str) or not quasi:
        raise InvalidArgument("quasi= needs a list of at least one column that an outsider may know")
    both = set(quasi) & set(names)
    if both:
        raise InvalidArgument(
            f"{', '.join(sorted(both))}: a column is either a quasi-identifier or sensitive, not both"
        )
    for column, kind in (kinds or {}).items():
        if kind not in KINDS or column not in names:
            raise InvalidArgument(
                f"kinds={{{column!r}: {kind!r}}}: name a sensitive column and one of {', '.join(KINDS)}"
            )
    if not 0 < known <= 1:
        raise InvalidArgument(f"known={known} must be a share above 0 and at most 1")
    return names
