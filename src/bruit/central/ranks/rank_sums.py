"""How far the rank sums of groups lie from even, as one noisy integer: all that a test of several groups needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bruit.central.column_questions import question_about
from bruit.central.questions import measures
from bruit.central.ranks.records import Person, person_of, require_public_size
from bruit.channels import IntegerNoise
from bruit.channels.integer_noise import LARGEST_SCALE
from bruit.core.guarantee import Assumption
from bruit.core.intervals import Covers, Interval
from bruit.core.losses import Pure
from bruit.core.neighbours import Neighbours
from bruit.core.release import Outcome, Release
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, ask
from bruit.mechanisms import Mechanism, asked, part_of, the_table
from bruit.tables import Column

Integers = NDArray[np.int64]

COUNTED = Fraction(1, 5)
"""The part of the price that counts the rows, where their number is private."""

LARGEST_CLIP = 2**31
"""Sums of so large scores of as many rows stay within 64 bits."""

CONFIDENCE = 0.95
LABELS = ("rank sums", "rows")


def rank_sums(
    values: Column,
    by: Column,
    *,
    budget: Budget | None,
    public_size: bool = False,
    rng: np.random.Generator | None = None,
) -> Release[Integers]:
    """How far the groups' sums of ranks lie from zero, all together, and the number of rows: for `inference.anova`.

    A row's rank r among all n rows scores 2r - n - 1, at most `clip` either way, half of the noisy number of rows; the
    scores of equal values are averaged. The sum over the groups of the absolute sums of scores is released, rounded
    down. A category that is not listed is a group too, unless its rows are dropped. `public_size` states, under
    REPLACE_ONE, that no replacement changes how many rows there are; then nothing is spent on counting them.

    >>> import bruit, polars
    >>> book = bruit.Ledger("trial", epsilon=2, neighbours=bruit.REPLACE_ONE, person=bruit.EACH_ROW)
    >>> frame = polars.DataFrame({"dose": ["low", "high"] * 50, "pain": [7, 3, 6, 4] * 25})
    >>> table = bruit.tables.read(frame, person=bruit.EACH_ROW)
    >>> dose, pain = table["dose"].among(["low", "high"]), table["pain"].within(0, 10, grid=1, missing=0)
    >>> release = rank_sums(pain, dose, budget=book.budget(epsilon=1), public_size=True)
    >>> release.labels, int(release.value[1]), bruit.inference.anova(release).p_value < 0.05
    (('rank sums', 'rows'), 100, True)
    """
    purchase = ask(budget, what="central.rank_sums", person=values.table.person, rng=rng)
    return rank_sums_mechanism(values, by, purchase.price, public_size=public_size).release(purchase)


def rank_sums_mechanism(
    values: Column, by: Column, price: Budget, *, public_size: bool = False
) -> Mechanism[Integers, Integers]:
    """The mechanism of `rank_sums`: one count, where it is private, and one sum whose noise follows from the count."""
    table, groups = the_table(values, by), by.categories.size
    if groups < 2:
        raise InvalidArgument(f"{by.name!r} has {groups} group: rank sums compare two at least")
    if public_size:
        require_public_size(by, price, "public_size=True")
    person = person_of(values, price, public_size=public_size)
    noises = RankNoises(person, price.neighbours, part_of(price, 1, "central.rank_sums"))
    median = partial(measures.quantiles, probabilities=(Fraction(1, 2),))
    reader = question_about(table, median, values, by=(by,)).reader

    def read(rng: np.random.Generator) -> Integers:
        tally = reader.read(rng).tallies[0]
        places, cells = (tally[name].to_numpy() for name in ("value 0", "cell"))
        different, place = np.unique(places, return_inverse=True)
        counts = np.zeros((groups, different.size), np.int64)
        np.add.at(counts, (cells, place), tally["rows"].to_numpy().astype(np.int64))
        return counts

    def interpret(noisy: Integers) -> Outcome[Integers]:
        return noises.interpret(noisy, asked(table, values, by=(by,)))

    assumes = (Assumption.PUBLIC_SIZE,) if public_size else ()
    loss = Pure(noises.epsilon, neighbours=price.neighbours)
    return Mechanism("central.rank_sums", loss, read, noises.send, interpret, assumes)


@dataclass(frozen=True)
class RankNoises:
    """The noise of the count and, once that is known, the clip of the scores and the noise of their sums.

    With clip w one row that is added moves the scores of the others by w in all, since of any w neighbouring ranks each
    moves by one and the rest are clipped, and brings a score of w at most: the sums of all groups move by 2w together.
    Equal values have the mean score over all orders that they may have, which moves by no more than the score of each.
    """

    person: Person
    neighbours: Neighbours
    epsilon: Fraction

    def __post_init__(self) -> None:
        self.of_sums(1)  # noise that cannot be drawn is refused here
        _ = self.of_count

    @property
    def of_count(self) -> IntegerNoise | None:
        """The noise of the number of rows; None where it is public."""
        if self.person.fixed_size:
            return None
        return IntegerNoise.laplace(self.epsilon * COUNTED, sensitivity=self.person.rows, neighbours=self.neighbours)

    def of_sums(self, clip: int) -> IntegerNoise:
        """The noise of the sums of scores that are clipped so far from zero."""
        part = Fraction(1) if self.person.fixed_size else 1 - COUNTED
        sensitivity = 2 * clip * self.person.moves
        return IntegerNoise.laplace(self.epsilon * part, sensitivity=sensitivity, neighbours=self.neighbours)

    def clips(self, rows: Integers) -> Integers:
        """Half of each number of rows, at least one, and no more than there is noise for."""
        scale = self.of_sums(1).loss.scale  # type: ignore[union-attr]
        return np.clip(rows // 2, 1, max(1, min(int(LARGEST_SCALE / scale) - 1, LARGEST_CLIP)))

    def send(self, counts: Integers, n: int, rng: np.random.Generator) -> Integers:
        """Each draw's noisy distance of the rank sums from zero, and number of rows, noisy where it is private."""
        count, rows = self.of_count, np.full(n, counts.sum())
        if count is not None:
            rows = rows + count.draw(n, rng=rng)
        clips, found = self.clips(rows), np.zeros(n, np.int64)
        for clip in np.unique(clips):
            chosen = clips == clip
            exact = np.full(chosen.sum(), distance(counts, int(clip)))
            found[chosen] = exact + self.of_sums(int(clip)).draw(exact.size, rng=rng)
        return np.stack([found, rows], axis=1)

    def interpret(self, noisy: Integers, details: Mapping[str, object]) -> Outcome[Integers]:
        """The two numbers with their noise, and what a test needs to know about them."""
        count, clip = self.of_count, int(self.clips(noisy[1:])[0])
        sums = self.of_sums(clip)
        widths = np.array([sums.half_width(CONFIDENCE), 0 if count is None else count.half_width(CONFIDENCE)], float)
        law = {"clip": clip, "sums": sums.loss.to_json(), "count": None if count is None else count.loss.to_json()}
        return Outcome(
            value=noisy,
            method="DiscreteLaplace",
            labels=LABELS,
            interval=Interval(np.maximum(noisy - widths, 0), np.maximum(noisy + widths, 0), CONFIDENCE, Covers.TABLE),
            noise=widths,
            details={**details, "rank_sums": law},
        )


def distance(counts: Integers, clip: int) -> int:
    """The sum over the groups of the absolute sums of scores, rounded down; `counts` by group and ordered value.

    Rounding down moves no whole bound on how far two such sums lie apart.
    """
    tied = counts.sum(0)
    counts, tied = counts[:, tied > 0], tied[tied > 0]
    block = np.diff(_first_scores(np.concatenate([[0], np.cumsum(tied)]), int(tied.sum()), clip))
    sums = [Fraction(0)] * len(counts)
    for number in np.unique(tied):  # of equal denominators whole numbers are added, so that few fractions are
        chosen = tied == number
        for group, row in enumerate(counts[:, chosen].astype(object) * block[chosen].astype(object)):
            sums[group] += Fraction(int(row.sum()), int(number))
    return int(sum(abs(each) for each in sums))


def _first_scores(ranks: Integers, rows: int, clip: int) -> Integers:
    """The sum of the scores of the first so many ranks: -clip each, then 2r - rows - 1, then clip each."""
    low = max(0, -((clip - rows - 1) // 2) - 1)
    high = min(rows, (rows + 1 + clip) // 2)
    inside = np.clip(ranks, low, high)
    outside = np.maximum(ranks - high, 0) - np.minimum(ranks, low)
    return np.asarray((inside - low) * (inside + low - rows) + clip * outside)
