"""A questionnaire under randomised response for private learning, and its total privacy loss per person."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any, Literal

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.channels import ONE, SymmetricChannel, checked_epsilon
from bruit.core.losses import Pure
from bruit.core.neighbours import LOCAL
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument
from bruit.local import KRR
from bruit.local.categories import Categories, CategoryList, category_list
from bruit.randomness import generator, uniform_below

Split = Literal["equal", "sizes"] | Mapping[str, Exact]
"""How a total is shared: alike, by the logarithm of how many answers there are, or by stated weights (0: not asked)."""


@dataclass(frozen=True, init=False, eq=False)
class Questionnaire:
    """Several questions, each answered through k-ary randomised response; one of them is the label to be learnt.

    `epsilon` is what each answer costs; or `total` is what a person costs who sends the label too, and `split` says
    how it is shared. A training person sends everything and pays `training_epsilon`, a person who asks for a
    prediction sends all but the label and pays `test_epsilon`: with epsilon for each of 7 attributes and a label, 8
    and 7 epsilon.                                                                          [docs/spec.md S0.5, errata]
    An answer that is not listed is sent as a uniformly drawn one: no answer is refused, none tells more.
    """

    label: str
    protocols: tuple[tuple[str, KRR], ...]

    def __init__(
        self,
        questions: Mapping[str, Categories],
        *,
        label: str,
        epsilon: Exact | None = None,
        total: Exact | None = None,
        split: Split = "equal",
    ) -> None:
        if label not in questions or len(questions) < 2:
            raise InvalidArgument(f"questions= must name the label {label!r} and at least one attribute beside it")
        listed = {name: _listed(name, each) for name, each in questions.items()}
        each = _prices(listed, epsilon, total, split)
        made = tuple((name, KRR(listed[name], epsilon=price)) for name, price in each.items() if price)
        names = [name for name, _ in made]
        if label not in names or len(names) < 2:
            raise InvalidArgument("the label and at least one attribute need a share of the epsilon above zero")
        object.__setattr__(self, "label", label)
        object.__setattr__(self, "protocols", made)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The questions other than the label, in order: the columns returned by `randomise`."""
        return tuple(name for name, _ in self.protocols if name != self.label)

    @property
    def channels(self) -> tuple[SymmetricChannel, ...]:
        """The channel of each attribute."""
        return tuple(protocol.channel for name, protocol in self.protocols if name != self.label)

    @property
    def label_channel(self) -> SymmetricChannel:
        """The channel of the label."""
        return dict(self.protocols)[self.label].channel

    @property
    def labels(self) -> NDArray[Any]:
        """The possible values of the label."""
        return np.array(dict(self.protocols)[self.label].categories.listed)

    @property
    def training_epsilon(self) -> Fraction:
        """The privacy loss of a person who sends every attribute and the label."""
        return sum((Fraction(protocol.loss) for _, protocol in self.protocols), Fraction(0))

    @property
    def test_epsilon(self) -> Fraction:
        """The privacy loss of a person who sends the attributes only, to get a prediction."""
        return self.training_epsilon - Fraction(self.label_channel.epsilon)

    def privacy(self) -> Pure:
        """The privacy loss of a person who sends every attribute and the label, ready to be composed."""
        return Pure(self.training_epsilon, neighbours=LOCAL)

    def costs(self) -> polars.DataFrame:
        """One row per question: its answers, its epsilon and the probability of a true report; then the two totals."""
        rows = [(name, len(one.categories), float(one.loss), one.channel.keep / ONE) for name, one in self.protocols]
        sums = [
            ("all, for a training person", None, float(self.training_epsilon), None),
            ("all but the label, for a test person", None, float(self.test_epsilon), None),
        ]
        return polars.DataFrame([*rows, *sums], ["question", "answers", "epsilon", "kept"], orient="row")

    def randomise(self, table: Any, *, rng: np.random.Generator | None = None) -> NDArray[np.int32]:
        """The noised attributes of every person as category indices, one column per attribute.

        `table` gives a column by name: a data frame or a mapping.
        """
        source = generator(rng)
        asked = [(name, protocol) for name, protocol in self.protocols if name != self.label]
        return _beside([_sent(protocol, _column(table, name), source) for name, protocol in asked])

    def randomise_label(self, values: Any, *, rng: np.random.Generator | None = None) -> NDArray[Any]:
        """The noised label of everybody, as one of `labels`."""
        return np.asarray(self.labels[_sent(dict(self.protocols)[self.label], values, generator(rng))])

    def places(self, table: Any) -> NDArray[np.int32]:
        """The true attributes as category indices, without noise, for a device's own predictions or for a baseline.

        An answer that is not listed is the first.
        """
        asked = [(name, protocol) for name, protocol in self.protocols if name != self.label]
        found = [(_places(protocol, _column(table, name)), len(protocol.categories)) for name, protocol in asked]
        return _beside([np.where(places < size, places, 0) for places, size in found]).astype(np.int32)


def _listed(name: str, each: Categories) -> tuple[Hashable, ...]:
    """The answers to one question."""
    if not isinstance(each, int | Iterable):
        raise InvalidArgument(
            f"questions[{name!r}]={each!r}: give a list of the allowed answers, or how many there are"
        )
    return category_list(each, other=False).listed


def _prices(
    questions: Mapping[str, tuple[Hashable, ...]], epsilon: Exact | None, total: Exact | None, split: Split
) -> dict[str, Fraction]:
    """The epsilon of each question."""
    if (epsilon is None) == (total is None):
        raise InvalidArgument("give either epsilon=, for each answer, or total=, for all the answers of one person")
    if epsilon is not None:
        if split != "equal":
            raise InvalidArgument("split= shares a total: give total= instead of epsilon=")
        return dict.fromkeys(questions, checked_epsilon(epsilon))
    shares = _shares(questions, split)
    whole = sum(shares.values(), Fraction(0))
    amount = exactly(0 if total is None else total, "total")
    if amount <= 0:
        raise InvalidArgument(f"total={total} must be above zero")
    return {name: amount * share / whole for name, share in shares.items()}


def _shares(questions: Mapping[str, tuple[Hashable, ...]], split: Split) -> dict[str, Fraction]:
    if split == "equal":
        return dict.fromkeys(questions, Fraction(1))
    if split == "sizes":
        return {name: exactly(round(log(len(each)), 3), "size") for name, each in questions.items()}
    if not isinstance(split, Mapping) or not set(split) <= set(questions):
        raise InvalidArgument("split= is 'equal', 'sizes', or a weight for each question by its name")
    shares = {name: exactly(split.get(name, 0), f"split[{name!r}]") for name in questions}
    if min(shares.values()) < 0 or max(shares.values()) == 0:
        raise InvalidArgument("the weights of split= must not be negative, and at least one must be above zero")
    return shares


def _column(table: Any, name: str) -> Any:
    try:
        return table[name]
    except Exception as error:
        raise InvalidArgument(
            f"the table has no column {name!r}; give one column for each question, by name"
        ) from error


def _beside(columns: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """One row a person."""
    if len({len(column) for column in columns}) > 1:
        raise InvalidArgument("the columns differ in length; give one answer of each person to each question")
    return np.column_stack(columns)


def _places(protocol: KRR, values: Any) -> NDArray[np.int32]:
    """The place of each answer; the number of answers for one that is not listed."""
    return CategoryList(protocol.categories.listed, other=True).indices(values)


def _sent(protocol: KRR, values: Any, rng: np.random.Generator) -> NDArray[np.int32]:
    places, size = _places(protocol, values), len(protocol.categories)
    unlisted = places >= size
    drawn = uniform_below(size, int(unlisted.sum()), rng=rng)
    places = places.copy()
    places[unlisted] = drawn
    return protocol.channel.send(places, rng=rng).astype(np.int32)
