"""Everything a stream has published, read without further cost: totals, changes, windows, trends, intervals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.continual.answers import Answer
from bruit.continual.noise.deviations import change_half_width, slope_weights, weighted_half_width
from bruit.continual.opening import Opened
from bruit.continual.payment import loss_of
from bruit.continual.questions import Keys
from bruit.continual.store import StoredState, read_state, values_between
from bruit.continual.terms import StreamTerms
from bruit.core import Guarantee, Outcome, Release
from bruit.core.arguments import confidence as check_confidence
from bruit.core.arguments import is_whole
from bruit.errors import InvalidArgument, StorageError
from bruit.ledger import Ledger
from bruit.storage import reading

CONFIDENCE = 0.95
"""Of intervals where nobody says another."""


class Published:
    """The public side of a stream, computed from published values and the plan alone."""

    name: str
    ledger: Ledger
    _opened: Opened
    _rng: np.random.Generator

    def _begin(self, name: str, ledger: Ledger, opened: Opened, rng: np.random.Generator) -> Self:
        self.name, self.ledger, self._opened, self._rng = name, ledger, opened, rng
        return self

    @property
    def terms(self) -> StreamTerms:
        """The question, the plan and the other terms of the stream."""
        return self._opened.terms

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole stream, up to its last period."""
        return self._opened.charge.guarantee

    @property
    def periods(self) -> int:
        """The number of periods that are paid for."""
        return self.terms.plan.periods

    @property
    def period(self) -> int:
        """The number of the last period that was published."""
        with reading(self._opened.engine) as connection:
            return require_current(read_state(connection, self._opened.token), self.name).period

    def guarantee_after(self, period: int) -> Guarantee:
        """The guarantee of the first `period` periods alone."""
        if not 1 <= period <= self.periods:
            raise InvalidArgument(f"period {period}: the stream {self.name!r} has periods 1 to {self.periods}")
        whole, terms = self.guarantee, self.terms
        if period == self.periods:
            return whole
        budget = self.ledger.budget(epsilon=whole.epsilon, delta=whole.delta, by=whole.by)
        return budget.quote(
            loss_of(terms.plan.loss_after(period), terms.keys_delta), what=self.name, assumes=whole.assumes
        ).guarantee

    def total(self, period: int | None = None, *, confidence: float = CONFIDENCE) -> Release[Any]:
        """The total since the start as published for a period."""
        until = self._published(period)
        return self.change(0, until, confidence=confidence)

    def window(self, length: int, *, until: int | None = None, confidence: float = CONFIDENCE) -> Release[Any]:
        """What the `length` periods up to `until` added together."""
        end = self._published(until)
        if not 1 <= length <= end:
            raise InvalidArgument(f"a window of {length} periods up to period {end}: give 1 to {end}")
        return self.change(end - length, end, confidence=confidence)

    def change(self, since: int, until: int | None = None, *, confidence: float = CONFIDENCE) -> Release[Any]:
        """What was added after period `since` (0: the start) up to `until`; the two noises cancel in part."""
        check_confidence(confidence)
        end = self._published(until)
        if not 0 <= since < end:
            raise InvalidArgument(f"a change since period {since} up to period {end}: give one from 0 to {end - 1}")
        labels, values = self._totals([since, end] if since else [end])
        moved = values[-1] - values[0] if since else values[-1]
        return self._released(self._outcome(moved, labels, (since, end), confidence))

    def trend(self, length: int, *, until: int | None = None, confidence: float = CONFIDENCE) -> Release[Any]:
        """The average amount added per period, by least squares over the last `length` totals."""
        check_confidence(confidence)
        end = self._published(until)
        if not 2 <= length <= end:
            raise InvalidArgument(f"a trend over {length} periods up to period {end}: give 2 to {end}")
        if self.terms.question.parts > 1:
            raise InvalidArgument("a mean has no trend of its own here: compare windows of it")
        labels, values = self._totals(range(end - length + 1, end + 1))
        weights = slope_weights(end, length)
        slopes = np.tensordot(weights[-length:], np.array(values, np.float64), axes=1)
        width = weighted_half_width(self.terms.plan, weights, confidence)
        answer = self.terms.question.answer(slopes, width, confidence, labels)
        return self._released(answer.outcome(self._details(end - length, end), single=self._single))

    def series(self, *, first: int = 1, confidence: float = CONFIDENCE, joint: bool = False) -> polars.DataFrame:
        """Every published total: columns `period`, `label`, `value`, `low`, `high`.

        With `joint` the band holds for all periods that are paid for together.           [Bonferroni: 1/n of the miss]
        """
        check_confidence(confidence)
        last = self._published(None)
        share = 1 - (1 - confidence) / (self.periods if joint else 1)
        columns: dict[str, list[Any]] = {name: [] for name in ("period", "label", "value", "low", "high")}
        with reading(self._opened.engine) as connection:
            for row in values_between(connection, self._opened.token, first, last):
                answer = self._answer(row.values, self._labels(row.labels), (0, row.period), share)
                none = [None] * len(answer.value)
                columns["period"] += [row.period] * len(answer.value)
                columns["label"] += answer.labels
                columns["value"] += np.asarray(answer.value, np.float64).tolist()
                columns["low"] += none if answer.low is None else answer.low.tolist()
                columns["high"] += none if answer.high is None else answer.high.tolist()
        kinds = {"period": polars.Int64, "label": polars.String}
        return polars.DataFrame(columns, schema={name: kinds.get(name, polars.Float64) for name in columns})

    def _released(self, outcome: Outcome[Any]) -> Release[Any]:
        return outcome.release(self.guarantee, self._opened.charge.receipt)

    def _outcome(
        self, values: NDArray[np.int64], labels: tuple[str, ...], between: tuple[int, int], confidence: float
    ) -> Outcome[Any]:
        """What two totals differ by (the first is nothing before the start), with its interval."""
        answer = self._answer(values, labels, between, confidence)
        return answer.outcome(self._details(*between), single=self._single)

    def _answer(
        self, values: NDArray[np.int64], labels: tuple[str, ...], between: tuple[int, int], confidence: float
    ) -> Answer:
        question = self.terms.question
        share = 1 - (1 - confidence) / question.parts
        return question.answer(values, change_half_width(self.terms.plan, *between, share), confidence, labels)

    def _labels(self, stored: str) -> tuple[str, ...]:
        return self.terms.question.labels or tuple(json.loads(stored))

    @property
    def _single(self) -> bool:
        return len(self.terms.question.labels) == 1

    def _published(self, period: int | None) -> int:
        last = self.period
        if last == 0:
            raise InvalidArgument(f"the stream {self.name!r} has published nothing yet")
        if period is None:
            return last
        if not is_whole(period) or not 1 <= period <= last:
            raise InvalidArgument(f"period {period}: the stream {self.name!r} has published 1 to {last}")
        return period

    def _totals(self, periods: Sequence[int]) -> tuple[tuple[str, ...], list[NDArray[np.int64]]]:
        """Labels and published totals of some periods; of found keys, those shown in all of them."""
        with reading(self._opened.engine) as connection:
            if len(periods) == 2:
                rows = [row for one in periods for row in values_between(connection, self._opened.token, one, one)]
            else:
                rows = list(values_between(connection, self._opened.token, periods[0], periods[-1]))
        if not isinstance(self.terms.question, Keys):
            return self.terms.question.labels, [row.values for row in rows]
        shown = [dict(zip(json.loads(row.labels), row.values, strict=True)) for row in rows]
        keys = sorted(set.intersection(*map(set, shown)))
        return tuple(keys), [np.array([one[key] for key in keys], np.int64) for one in shown]

    def _details(self, since: int, until: int) -> dict[str, Any]:
        terms = self.terms
        told = {"stream": self.name, "since": since, "period": until, "periods": self.periods}
        told["participation"] = str(terms.plan.participation)
        return told if terms.threshold is None else {**told, "threshold": terms.threshold}


def require_current(state: StoredState, name: str) -> StoredState:
    """Returns the state, or refuses one that a restored backup has set behind what was published."""
    if state.was_set_back:
        raise StorageError(
            f"the stream {name!r} was set back to period {state.period}, but its book knows period {state.marked[1]}; "
            "Stream.restore(name, budget=...) pays for it once more and goes on"
        )
    return state
