"""Streams: statistics of growing data, published every period for one price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.central.questions import Question
from bruit.continual.advance import Added, added_by, advance
from bruit.continual.engine_questions import (
    EngineQuestion,
    check_question,
    engine_question,
    read_question,
    require_own_people,
    require_table,
)
from bruit.continual.folders import new_files, read_files
from bruit.continual.noise.deviations import change_half_width
from bruit.continual.opening import (
    Goal,
    open_again,
    open_or_create,
    open_standing,
    planned_terms,
    require_source,
)
from bruit.continual.participation import Participation
from bruit.continual.payment import ask_for_stream
from bruit.continual.published import CONFIDENCE, Published, require_current
from bruit.continual.questions import StreamQuestion, check_table, read_rows
from bruit.continual.store import (
    StoredState,
    StoredValues,
    admit,
    lock,
    period_of,
    prepare_store,
    read_sources,
    read_state,
    record_sources,
    stream_names,
    values_at,
    write,
)
from bruit.continual.terms import StreamTerms, terms_from_json
from bruit.core import EACH_ROW, Release
from bruit.core.arguments import confidence as check_confidence
from bruit.core.arguments import is_whole, whole
from bruit.errors import InvalidArgument, StorageError
from bruit.ledger import Budget, Ledger
from bruit.randomness import generator, is_strong
from bruit.storage import reading, writing
from bruit.tables import Table

if TYPE_CHECKING:
    from sqlalchemy import Connection

Add = Callable[["Connection", StoredState, StreamTerms], Added]
"""What a period adds, decided inside its transaction: rows are read before it, so that nobody waits for a table."""


class Stream(Published):
    """A statistic of growing data, published every period: totals since the start, changes, windows and trends.

    The whole stream is one entry of its book, charged at the opening, whatever is published until its last period and
    whoever reacts to it. It stands in the store of the book: another process goes on where this one stopped.

    `participation` says how often one person's rows count: `once()`, `at_most(12, apart=30)` or `once_in(7)`; rows of a
    person without a turn are left out. `periods` is the last period, or None where nobody knows (up to 2^20). `aim`
    says which error is made small: "max" or "mean" of the totals, or, as a number, that of a sliding window.

    >>> import bruit, polars, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> book = bruit.Ledger("clinic", epsilon=1, delta=1e-6, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id",
    ...                     store=f"sqlite:///{folder}/books.db")
    >>> visits = Stream("visits", bruit.continual.Count(rows=1), participation=bruit.continual.once(), periods=12,
    ...                 budget=book.budget(epsilon=1, delta=1e-6))
    >>> january = bruit.tables.read(polars.DataFrame({"id": range(300)}), person="id")
    >>> release = visits.update(january)
    >>> visits.period, release.value == visits.total().value, len(book.entries)
    (1, True, 1)
    """

    def __init__(
        self,
        name: str,
        question: StreamQuestion | Question,
        *,
        participation: Participation,
        periods: int | None,
        budget: Budget | None,
        aim: Goal = "max",
        rng: np.random.Generator | None = None,
    ) -> None:
        purchase = ask_for_stream(budget, name, rng)
        kept = engine_question(question) if isinstance(question, Question) else question
        if isinstance(question, Question):
            require_own_people(question, purchase.price.ledger)
        opened = open_or_create(name, kept, purchase, participation=participation, periods=periods, goal=aim)
        self._begin(name, purchase.price.ledger, opened, generator(rng))

    @classmethod
    def open(cls, name: str, ledger: Ledger, *, rng: np.random.Generator | None = None) -> Stream:
        """Opens an existing stream by name, at no cost."""
        opened, source = open_standing(name, ledger), generator(rng)
        require_source(name, opened.terms, seeded=not is_strong(source))
        return cls.__new__(cls)._begin(name, ledger, opened, source)

    @staticmethod
    def expected_error(
        question: StreamQuestion | Question,
        *,
        participation: Participation,
        periods: int | None,
        budget: Budget | None,
        aim: Goal = "max",
        window: int | None = None,
        confidence: float = CONFIDENCE,
    ) -> int:
        """The half-width of the last total or of the last `window` periods, computed before anything is paid or read.

        It is in whole units of what is added up: rows of a count, steps of the grid of a sum.
        """
        kept = engine_question(question) if isinstance(question, Question) else question
        purchase = ask_for_stream(budget, "expected")
        plan = planned_terms(kept, purchase, participation=participation, periods=periods, goal=aim).plan
        since = 0 if window is None else plan.periods - whole(window, "window", most=plan.periods)
        return change_half_width(plan, since, plan.periods, check_confidence(confidence))

    @staticmethod
    def names(ledger: Ledger) -> tuple[str, ...]:
        """The names of the streams that a ledger has paid for."""
        return () if ledger.book.store is None else stream_names(prepare_store(ledger.book.store), ledger.book.identity)

    @classmethod
    def restore(cls, name: str, *, budget: Budget | None, seen: int = 0) -> Stream:
        """Reopens a stream whose store was restored from an older backup, and pays for it again.

        Its book knows the last period unless it was set back too; then say with `seen` which period was published.
        """
        purchase = ask_for_stream(budget, name)
        opened = open_again(name, purchase, seen=seen)
        return cls.__new__(cls)._begin(name, purchase.price.ledger, opened, generator(None))

    def update(
        self,
        data: Table | Question,
        *,
        period: int | None = None,
        source: str | None = None,
        confidence: float = CONFIDENCE,
    ) -> Release[Any]:
        """Publishes the next period from its rows, or returns again what was published for an earlier one.

        `source` names what is read, such as "2026-03": a job that runs again, after a crash or by mistake, gives what
        was published from it. Rows that come late belong to the period that is open. A period without rows is
        published too: the clock, not the data, says when one ends.
        """
        self._check(data)
        known = self._known(period, source)
        if known is not None:
            return self._given(known, confidence)
        vectors = self._vectors(data)

        def add(connection: Connection, state: StoredState, terms: StreamTerms) -> Added:
            return self._admitted(connection, state, terms, vectors)

        return self._update(add, period, confidence, source=source)

    def update_totals(
        self,
        added: NDArray[np.int64] | Mapping[str, int],
        *,
        period: int | None = None,
        source: str | None = None,
        confidence: float = CONFIDENCE,
    ) -> Release[Any]:
        """Publishes the next period from sums per cell, in which another engine has bounded each person's part.

        Whoever calls this answers for the participation and the bounds; nothing is checked but shape and type.
        """
        numbers = self._whole_numbers(added)
        return self._update(lambda *_: numbers, period, confidence, source=source)

    def update_from(
        self, folder: str | Path, *, source: str | None = None, confidence: float = CONFIDENCE
    ) -> Release[Any]:
        """Publishes the next period from the files of a folder that no period has read yet."""
        published = self._known(None, source)
        if published is not None:
            return self._given(published, confidence)
        with reading(self._opened.engine) as connection:
            known = read_sources(connection, self._opened.token)
        files = new_files(folder, known)
        table = read_files(folder, files, self.ledger.person)
        self._check(table)
        vectors = self._vectors(table)

        def add(connection: Connection, state: StoredState, terms: StreamTerms) -> Added:
            if read_sources(connection, state.token) - {source} != known:
                raise StorageError(f"another process read {folder} meanwhile; nothing was published, try again")
            record_sources(connection, state.token, state.period + 1, [file.name for file in files])
            return self._admitted(connection, state, terms, vectors)

        return self._update(add, None, confidence, source=source)

    def _update(self, add: Add, period: int | None, confidence: float, *, source: str | None = None) -> Release[Any]:
        check_confidence(confidence)
        with writing(self._opened.engine) as connection:
            state = require_current(lock(connection, self._opened.token), self.name)
            asked = period if source is None else period_of(connection, state.token, source)
            asked = state.period + 1 if asked is None else asked
            if not self._is_published(asked, state):
                terms = terms_from_json(state.terms)
                if source is not None:
                    record_sources(connection, state.token, asked, [source])
                done = advance(terms, state, add(connection, state, terms), self._rng)
                values = done.values.astype("<i8").tobytes()
                write(connection, state, state=done.state, values=values, labels=done.labels)
                stored = StoredValues(asked, done.values, done.labels)
            else:
                stored = values_at(connection, state.token, asked)
        return self._finished(stored, confidence)

    def _check(self, data: Table | Question) -> None:
        """Refuses, by what is public, data that the stream cannot read."""
        question = self.terms.question
        if isinstance(question, EngineQuestion) and isinstance(data, Question):
            check_question(question, data, self.ledger)
        else:
            check_table(question, require_table(data, question), self.ledger.person)

    def _vectors(self, data: Table | Question) -> polars.DataFrame:
        """What each person's rows add to each cell."""
        question = self.terms.question
        if isinstance(question, EngineQuestion) and isinstance(data, Question):
            return read_question(question, data, self._rng)
        return read_rows(question, require_table(data, question), self._rng)

    def _known(self, period: int | None, source: str | None) -> int | None:
        """The period that was published under a number or from a source, where it was; nothing is read then."""
        if source is not None:
            if period is not None or not isinstance(source, str) or not source:
                raise InvalidArgument("name either the period or what is read: period=3, or source='2026-03'")
            with reading(self._opened.engine) as connection:
                return period_of(connection, self._opened.token, source)
        return period if period is not None and self._is_published(period, self._state()) else None

    def _given(self, period: int, confidence: float) -> Release[Any]:
        """What was published for a period."""
        with reading(self._opened.engine) as connection:
            stored = values_at(connection, self._opened.token, period)
        return self._finished(stored, confidence)

    def _finished(self, stored: StoredValues, confidence: float) -> Release[Any]:
        """What was stored, as a release; the last period's is kept in the entry, also by whoever asks for it again."""
        outcome = self._outcome(stored.values, self._labels(stored.labels), (0, stored.period), confidence)
        is_last = stored.period == self.periods
        return self._opened.charge.finish(outcome) if is_last else self._released(outcome)

    def _state(self) -> StoredState:
        with reading(self._opened.engine) as connection:
            return require_current(read_state(connection, self._opened.token), self.name)

    def _admitted(
        self, connection: Connection, state: StoredState, terms: StreamTerms, vectors: polars.DataFrame
    ) -> Added:
        """What the people add who have a turn."""
        if self.ledger.person != EACH_ROW:
            vectors = admit(
                connection,
                state.token,
                state.period + 1,
                vectors,
                participation=terms.plan.participation,
                contribution=terms.plan.contribution,
            )
        return added_by(vectors, terms.plan)

    def _is_published(self, period: int, state: StoredState) -> bool:
        """Whether a period can be given again; one beyond the next, or beyond the last, is refused."""
        if not is_whole(period) or not 1 <= period <= self.periods:
            raise InvalidArgument(
                f"period {period}: the stream {self.name!r} was paid for 1 to {self.periods}; open another one"
            )
        if period > state.period + 1:
            raise InvalidArgument(f"period {period}: the next one is {state.period + 1}; late rows belong to it")
        return period <= state.period

    def _whole_numbers(self, added: NDArray[np.int64] | Mapping[str, int]) -> Added:
        cells = self.terms.plan.cells
        if cells is None:
            if isinstance(added, Mapping) and all(type(number) is int for number in added.values()):
                return {str(key): number for key, number in added.items()}
            raise InvalidArgument("give a whole number for each key that came: {'key': 3}")
        numbers = np.asarray(added)
        if numbers.shape != (cells,) or numbers.dtype.kind not in "iu":
            raise InvalidArgument(
                f"give {cells} whole numbers, one for each cell; got {numbers.dtype} of {numbers.shape}"
            )
        cast = numbers.astype(np.int64)
        return cast if self.terms.plan.contribution.signed else np.maximum(cast, 0)
