"""Descriptions of privacy losses: what was done to the data, to be priced later by an accountant.

A loss computes nothing: accountants (`bruit.privacy.epsilon`) turn it into a guarantee. `a + b` is both, `a * n` is n
times, `parallel(...)` is one on each part of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

from bruit.core.arguments import whole
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE, Neighbours
from bruit.core.numbers import Exact, ShowsDecimals, exactly, positive, probability
from bruit.errors import InvalidArgument, NeighboursDiffer


class Scheme(StrEnum):
    """The sampling scheme: how the records of a step were chosen."""

    POISSON = "poisson"
    """Each record by its own coin."""

    FIXED_SIZE = "fixed size"
    """A subset of fixed size, uniformly, without replacement."""

    SHUFFLED = "shuffled"
    """Consecutive batches of one shuffled pass; the loss stands for the whole pass."""


@dataclass(frozen=True)
class Loss(ShowsDecimals):
    """The root of every loss; `+` composes, `*` repeats."""

    neighbours: Neighbours
    kinds: ClassVar[dict[str, type[Loss]]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        Loss.kinds[cls.__name__] = cls

    def __add__(self, other: Loss) -> Composed:
        return composed([(self, 1), (other, 1)])

    def __mul__(self, times: int) -> Composed:
        return composed([(self, times)])

    __rmul__ = __mul__

    def parts(self) -> Iterator[tuple[Loss, int]]:
        """Yields each loss that this one is composed of, with how often it happened."""
        yield self, 1

    def to_json(self) -> dict[str, Any]:
        """A complete description in JSON types; rationals are texts such as "1/10"."""
        values = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return {"kind": type(self).__name__, **values}

    def _fix(self, *, neighbours: Neighbours, **values: Any) -> None:
        if not isinstance(neighbours, Neighbours):
            raise InvalidArgument(
                f"neighbours={neighbours!r}: give bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE or bruit.LOCAL"
            )
        for name, value in {"neighbours": neighbours, **values}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Pure(Loss):
    """The loss of any epsilon-private mechanism: its output law changes by a factor of at most e^epsilon.

    [Dwork et al. 2006, Def. 1]
    """

    epsilon: Fraction

    def __init__(self, epsilon: Exact, *, neighbours: Neighbours) -> None:
        self._fix(neighbours=neighbours, epsilon=_not_negative(epsilon, "epsilon"))


@dataclass(frozen=True)
class BoundedRange(Loss):
    """The loss of a choice whose log odds between any two outcomes move by at most epsilon.

    Drawing i with probability proportional to exp(epsilon * score_i / (2 sensitivity)) has range epsilon: half of the
    range that a pure epsilon allows, so it composes better.                      [Durfee & Rogers 2019]
    """

    epsilon: Fraction

    def __init__(self, epsilon: Exact, *, neighbours: Neighbours) -> None:
        self._fix(neighbours=neighbours, epsilon=positive(epsilon, "epsilon"))


@dataclass(frozen=True)
class Approximate(Loss):
    """The loss of any (epsilon, delta)-private mechanism."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Exact, delta: Exact, *, neighbours: Neighbours) -> None:
        self._fix(neighbours=neighbours, epsilon=_not_negative(epsilon, "epsilon"), delta=probability(delta, "delta"))


@dataclass(frozen=True)
class ZeroConcentrated(Loss):
    """The loss of any rho-zCDP mechanism: its Rényi divergence of every order a is at most rho * a.

    [Bun & Steinke 2016, Def. 1.1]
    """

    rho: Fraction

    def __init__(self, rho: Exact, *, neighbours: Neighbours) -> None:
        self._fix(neighbours=neighbours, rho=_not_negative(rho, "rho"))


@dataclass(frozen=True)
class NormalShift(Loss):
    """Gaussian noise on integers that move over many steps, by at most `squared_shift` variances in all.

    Whatever the path, it is told no better than N(shift, 1) from N(0, 1), once the chances of the discrete law and of
    the rounded normal one are exchanged: those differ by at most a factor e^near, but for a chance of `far`. Its Rényi
    divergence of every order a is at most a * squared_shift / 2, without either.         [docs/continual.md, Theorem 2]
    """

    squared_shift: Fraction
    near: Fraction
    far: Fraction

    def __init__(self, squared_shift: Exact, *, near: Exact = 0, far: Exact = 0, neighbours: Neighbours) -> None:
        self._fix(
            neighbours=neighbours,
            squared_shift=positive(squared_shift, "squared_shift"),
            near=_not_negative(near, "near"),
            far=probability(far, "far"),
        )


@dataclass(frozen=True)
class Laplace(Loss):
    """The loss of releasing a real number of a given sensitivity with Laplace noise of a given scale."""

    scale: Fraction
    sensitivity: Fraction

    def __init__(self, scale: Exact, *, sensitivity: Exact, neighbours: Neighbours) -> None:
        self._fix(
            neighbours=neighbours, scale=positive(scale, "scale"), sensitivity=positive(sensitivity, "sensitivity")
        )


@dataclass(frozen=True)
class DiscreteLaplace(Loss):
    """The loss of releasing integers of a given l1 sensitivity with noise of mass proportional to exp(-|k| / scale)."""

    scale: Fraction
    sensitivity: int

    def __init__(self, scale: Exact, *, sensitivity: int, neighbours: Neighbours) -> None:
        self._fix(neighbours=neighbours, scale=positive(scale, "scale"), sensitivity=whole(sensitivity, "sensitivity"))


@dataclass(frozen=True)
class Gaussian(Loss):
    """The loss of releasing real numbers with Gaussian noise of deviation `noise` times the l2 sensitivity."""

    noise: Fraction

    def __init__(self, noise: Exact, *, neighbours: Neighbours) -> None:
        self._fix(neighbours=neighbours, noise=positive(noise, "noise"))


@dataclass(frozen=True)
class DiscreteGaussian(Loss):
    """The loss of releasing integers with noise of mass proportional to exp(-k^2 / (2 variance)).

    `squared_sensitivity` is the square of the l2 sensitivity, an integer; `entries` is the most numbers one person can
    change: with more than one, the sum of the noises is not the noise of a sum, and accountants say so.
    """

    variance: Fraction
    squared_sensitivity: int
    entries: int

    def __init__(self, variance: Exact, *, squared_sensitivity: int, entries: int = 1, neighbours: Neighbours) -> None:
        self._fix(
            neighbours=neighbours,
            variance=positive(variance, "variance"),
            squared_sensitivity=whole(squared_sensitivity, "squared_sensitivity"),
            entries=whole(entries, "entries"),
        )


@dataclass(frozen=True)
class Sampled(Loss):
    """A loss on a random subset of the records, chosen by a stated scheme at a stated rate.

    `neighbours` may be REPLACE_ONE around a loss stated for ADD_OR_REMOVE_ONE: what one record does to the subset is to
    be in it or not, and what is exchanged outside is the record behind that coin. Without it, those of the loss.
    """

    loss: Loss
    rate: Fraction
    scheme: Scheme

    def __init__(self, loss: Loss, *, rate: Exact, scheme: Scheme, neighbours: Neighbours | None = None) -> None:
        chosen, loss = exactly(rate, "rate"), _loss(loss)
        if not 0 < chosen <= 1:
            raise InvalidArgument(f"rate={rate} must be above 0 and at most 1: the share of the records in one step")
        if not isinstance(scheme, Scheme):
            raise InvalidArgument(f"scheme={scheme!r}: give Scheme.POISSON, Scheme.FIXED_SIZE or Scheme.SHUFFLED")
        outside = loss.neighbours if neighbours is None else neighbours
        if outside != loss.neighbours and (loss.neighbours, outside) != (ADD_OR_REMOVE_ONE, REPLACE_ONE):
            raise NeighboursDiffer(
                f"a sampled loss for {outside!s} around one for {loss.neighbours}: only an add-or-remove loss can "
                "stand inside a loss of other neighbours, and those must be bruit.REPLACE_ONE"
            )
        self._fix(neighbours=outside, loss=loss, rate=chosen, scheme=scheme)


@dataclass(frozen=True)
class Composed(Loss):
    """The loss of several losses on the same people, each with how often it happened."""

    counted: tuple[tuple[Loss, int], ...]

    def __post_init__(self) -> None:
        counted = tuple((_loss(loss), whole(times, "times")) for loss, times in self.counted)
        self._fix(neighbours=_one_relation((loss for loss, _ in counted), self.neighbours), counted=counted)

    def parts(self) -> Iterator[tuple[Loss, int]]:
        yield from self.counted


@dataclass(frozen=True)
class Parallel(Loss):
    """The loss of several losses on disjoint parts of the data; the part of a record depends on that record alone.

    A person who is in at most `cells` parts pays the `cells` largest; exchanging a person's rows for another's can
    change as many parts again, and each of those gains, loses or exchanges rows: under REPLACE_ONE the loss of a part
    has to hold for all three.                                                      [McSherry 2009, Theorem 4]
    """

    losses: tuple[Loss, ...]
    cells: int

    def __post_init__(self) -> None:
        losses = tuple(map(_loss, self.losses))
        relation = _one_relation(losses, self.neighbours)
        self._fix(neighbours=relation, losses=losses, cells=whole(self.cells, "cells"))


def composed(counted: Iterable[tuple[Loss, int]]) -> Composed:
    """Composes losses that each happened a number of times; equal losses are merged and their numbers added."""
    merged: dict[Loss, int] = {}
    for loss, times in counted:
        number = whole(times, "times")
        for part, inner in _loss(loss).parts():
            merged[part] = merged.get(part, 0) + inner * number
    return Composed(_one_relation(merged), tuple(merged.items()))


def parallel(*losses: Loss, cells: int = 1) -> Parallel:
    """One loss on each part of the data; a person is in at most `cells` of the parts."""
    return Parallel(_one_relation(map(_loss, losses)), losses, cells)


def loss_from_json(description: dict[str, Any]) -> Loss:
    """Rebuilds a loss from what `Loss.to_json` wrote, with the same checks as its constructor."""
    try:
        return _described(dict(description))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(f"{description!r} does not describe a loss: {error}") from error


def _described(values: dict[str, Any]) -> Loss:
    name = values.pop("kind", "")
    kind = Loss.kinds.get(name)
    if kind is None:
        raise InvalidArgument(
            f"{name!r} is no loss that this version of bruit knows: read it with the one that wrote it"
        )
    relation = Neighbours(values.pop("neighbours"))
    if kind is Composed:
        return Composed(relation, tuple((loss_from_json(loss), times) for loss, times in values["counted"]))
    if kind is Parallel:
        return Parallel(relation, tuple(map(loss_from_json, values["losses"])), values["cells"])
    if kind is Sampled:
        return Sampled(
            loss_from_json(values["loss"]), rate=values["rate"], scheme=Scheme(values["scheme"]), neighbours=relation
        )
    inner = {name: loss_from_json(value) if isinstance(value, dict) else value for name, value in values.items()}
    return kind(neighbours=relation, **inner)


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Loss):
        return value.to_json()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, StrEnum) else value


def _not_negative(value: Exact, name: str) -> Fraction:
    number = exactly(value, name)
    if number < 0:
        raise InvalidArgument(f"{name}={value} must not be negative")
    return number


def _loss(value: Loss) -> Loss:
    if not isinstance(value, Loss):
        raise InvalidArgument(f"{value!r} is not a loss; give bruit.privacy.Pure, Gaussian or another")
    return value


def _one_relation(losses: Iterable[Loss], stated: Neighbours | None = None) -> Neighbours:
    """The neighbours that all the losses share, and that were stated for the whole where they were."""
    relations = {loss.neighbours for loss in losses}
    if not relations:
        raise InvalidArgument("a composition needs at least one loss")
    if stated is not None:
        relations.add(stated)
    if len(relations) > 1:
        raise NeighboursDiffer(
            f"losses stated for {' and '.join(sorted(relations))} cannot be added: "
            "state every loss of one book for the same neighbours"
        )
    return relations.pop()
