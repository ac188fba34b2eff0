"""Where numbers come from: a curator's release, randomised answers, a synthetic table, or several groups of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike

from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.inference.curator_releases import cells_of_release, totals_of_release
from bruit.inference.noise_laws import NormalNoise, ReportNoise
from bruit.inference.noisy_counts import Axis, Block, Cells
from bruit.inference.totals import Totals, totals_of
from bruit.local import KRR, OLH, OUE, SUE, OneBitMean, Tally, TallyKind, Warner
from bruit.synthetic import SyntheticTable
from bruit.tables import Within

Source: TypeAlias = Union["Release[Any]", TallyKind, SyntheticTable, Cells, Sequence["Source"]]
"""A release of `bruit.central`, a tally of `bruit.local`, a synthetic table, cells, or one of these for each group."""


def cells(source: Source, *columns: str, values: Mapping[str, ArrayLike] | None = None) -> Cells:
    """The noisy counts of a source by cell, with the law of their noise: what every function here begins with.

    `columns` names those of a synthetic table. `values` gives, by column, the number that each category stands for. A
    list of sources is one group each, in a first column called "group".
    """
    found = _cells(source, columns)
    if not values:
        return found
    unknown = set(values) - {axis.name for axis in found.axes}
    if unknown:
        raise InvalidArgument(f"values={sorted(unknown)}: no such column; there are {[a.name for a in found.axes]}")
    return Cells(tuple(_with_values(axis, values) for axis in found.axes), found.blocks, found.guarantees)


def value_totals(source: Source) -> Totals:
    """The totals of one column of numbers."""
    if isinstance(source, Release):
        totals = totals_of_release(source)
        if totals is not None:
            return totals
    protocol = getattr(source, "protocol", None)
    if isinstance(protocol, OneBitMean):
        return _one_bit_totals(source, protocol)  # type: ignore[arg-type]
    found = _cells(source, ())
    found.require_axes(1, "a mean")
    return totals_of(found, found.axes[0].numbers)


def share_totals(source: Source, answer: str) -> Totals:
    """The totals of a column that is 1 for an answer and 0 for the others."""
    found = _cells(source, ())
    found.require_axes(1, "a share")
    return totals_of(found, _one_hot(found.axes[0], answer), two_valued=True)


def group_totals(source: Source, other: Source | None, answer: str | None) -> tuple[Totals, Totals]:
    """The totals of two groups: two sources, or the two rows of one."""
    one = value_totals if answer is None else lambda part: share_totals(part, str(answer))
    if other is not None:
        return one(source), one(other)
    found = _cells(source, ())
    found.require_axes(2, "two groups of one source")
    if found.shape[0] != 2:
        raise InvalidArgument(f"{found.axes[0].name!r} has {found.shape[0]} groups: give two sources, one a group")
    return one(found.group(0)), one(found.group(1))


def _cells(source: Source, columns: Sequence[str]) -> Cells:
    if isinstance(source, Cells):
        return source
    if isinstance(source, SyntheticTable):
        return _synthetic_cells(source, columns)
    if isinstance(source, Release):
        return _cells(source.value, columns) if isinstance(source.value, SyntheticTable) else cells_of_release(source)
    if isinstance(source, Tally):
        return _tally_cells(source)
    if isinstance(source, Sequence) and source and not isinstance(source, str):
        return _stack([_cells(each, columns) for each in source])
    raise InvalidArgument(
        f"a {type(source).__name__} is no source: give a release of bruit.central, a tally of bruit.local, "
        "a synthetic table with the names of its columns, or a list of these, one a group"
    )


def _stack(groups: list[Cells]) -> Cells:
    """Groups that were asked apart, as rows of one table."""
    first = groups[0]
    if any(len(one.axes) != 1 or one.axes[0].labels != first.axes[0].labels for one in groups):
        raise InvalidArgument("groups need the same one column with the same cells: give one count by it for each")
    names = tuple(f"{place + 1}" for place in range(len(groups)))
    guarantees = tuple(dict.fromkeys(each for one in groups for each in one.guarantees))
    return Cells((Axis("group", names), first.axes[0]), tuple(b for one in groups for b in one.blocks), guarantees)


def _tally_cells(tally: Tally) -> Cells:
    protocol = tally.protocol
    if not isinstance(protocol, KRR | Warner | OUE | SUE | OLH):
        raise InvalidArgument(
            f"the counts of {type(protocol).__name__} depend on each other in a way that no test here knows: ask with "
            "KRR, Warner, OUE, SUE or OLH"
        )
    if tally.people == 0 or tally.respondents < tally.people:
        raise InvalidArgument("people are the sample here: give a tally of one report a person, and of one at least")
    law = ReportNoise(protocol.support, tally.people, isinstance(protocol, KRR | Warner))
    block = Block(protocol.support.unmix(tally.counts, out_of=tally.people), law)
    guarantee = protocol.guarantee(seeded=tally.seeded)
    return Cells((Axis("answer", protocol.categories.labels),), (block,), (guarantee,))


def _one_bit_totals(tally: TallyKind, protocol: OneBitMean) -> Totals:
    """The totals of a mean that was asked by one bit: the bit says "high" or "low" through a symmetric channel."""
    zeros, ones = tally.to_json()["counts"]
    people, low, high = zeros + ones, float(protocol.low), float(protocol.high)
    law = ReportNoise(protocol.channel.support, people, one_place=False)
    block = Block(protocol.channel.support.unmix(np.array([ones]), out_of=people), law)
    matrix = np.array([[0.0], [high - low], [high**2 - low**2]])
    offsets = np.array([people, people * low, people * low**2])
    return Totals(
        block, matrix, offsets, low, high, two_valued=True, guarantees=(protocol.guarantee(seeded=tally.seeded),)
    )


def _synthetic_cells(table: SyntheticTable, columns: Sequence[str]) -> Cells:
    """The measured marginals that hold all the columns, averaged by precision; the invented rows are not looked at."""
    names = [column.name for column in table.columns]
    if not columns or set(columns) - set(names):
        raise InvalidArgument(f"name columns of the synthetic table: cells(table, {', '.join(map(repr, names[:2]))})")
    places = [names.index(name) for name in columns]
    measured = [one for one in table.measurements.measured if set(places) <= set(one.clique)]
    if not measured:
        raise InvalidArgument(
            f"{', '.join(columns)}: no noisy count of these columns together was measured, so that nothing is known "
            f"about their error; measured are {table.measured}; pay for them with central.histogram"
        )
    sizes = table.measurements.sizes
    parts, variances = [], []
    for one in measured:
        counts = one.noisy.reshape([sizes[i] for i in one.clique]).astype(np.float64)
        others = tuple(axis for axis, i in enumerate(one.clique) if i not in places)
        kept = [i for i in one.clique if i in places]
        parts.append(counts.sum(axis=others).transpose([kept.index(i) for i in places]))
        variances.append(one.variance * np.prod([sizes[one.clique[axis]] for axis in others]))
    precision = 1 / np.array(variances)
    value = np.tensordot(precision / precision.sum(), np.array(parts), 1)
    axes, kept_cells = zip(*(_coded_axis(table, place) for place in places), strict=True)
    value = value[np.ix_(*kept_cells)]
    return Cells(tuple(axes), (Block(value, NormalNoise(float(1 / precision.sum()))),), (table.guarantee,))


def _coded_axis(table: SyntheticTable, place: int) -> tuple[Axis, list[int]]:
    """A column of a synthetic table without its cell of missing values; a cell of numbers stands for its middle."""
    column = table.columns[place]
    kept = list(range(len(column.firsts)))
    labels = column.labels[: len(kept)]
    if not isinstance(column.domain, Within):
        return Axis(column.name, labels), kept
    ends = np.stack([column.domain.decode(np.array(column.firsts)), column.domain.decode(np.array(column.ends))])
    return Axis(column.name, labels, ends.mean(0)), kept


def _with_values(axis: Axis, values: Mapping[str, ArrayLike]) -> Axis:
    if axis.name not in values:
        return axis
    numbers = np.asarray(values[axis.name], np.float64)
    if numbers.shape != (len(axis.labels),) or not np.isfinite(numbers).all():
        raise InvalidArgument(f"values for {axis.name!r}: give one number for each of {', '.join(axis.labels)}")
    return Axis(axis.name, axis.labels, numbers)


def _one_hot(axis: Axis, answer: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    hot = np.zeros(len(axis.labels))
    hot[axis.place(answer)] = 1
    return hot
