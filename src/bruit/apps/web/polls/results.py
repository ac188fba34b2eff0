"""Results of a poll from its counters: raw counts, estimates with intervals, and the error at more answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from bruit.apps.web.polls.plausibility import implausible
from bruit.apps.web.polls.question import PollQuestion, search
from bruit.apps.web.polls.store import Counts
from bruit.apps.web.report_format import Wire
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local import FrequencyProtocol, OneBitMean, Rappor, Tally, decode, detection_limit
from bruit.local.rappor import RapporTally

SIZES: Final = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""Numbers of answers for which the error is shown."""
FEWEST_TO_DECODE: Final = 10
CONFIDENCE: Final = 0.95


def tallies(rounds: Sequence[tuple[Wire, Counts]]) -> list[Tally]:
    """The tallies of the rounds of an open question."""
    found = [wire.tally(*counts) for wire, counts in rounds]
    return [tally for tally in found if isinstance(tally, Tally)]


def release(
    question: PollQuestion, wire: Wire, answers: int, kept: bytes, earlier: Sequence[tuple[Wire, Counts]] = ()
) -> Release[Any] | None:
    """The estimate, or None while there are too few reports for one."""
    if answers < (FEWEST_TO_DECODE if wire.cohorts else 1):
        return None
    if question.kind == "open":
        return search(question).find(tallies([*earlier, (wire, (answers, kept))]), confidence=CONFIDENCE)
    tally: Any = wire.tally(answers, kept)
    if isinstance(tally, RapporTally):
        return decode(tally, question.choices, confidence=CONFIDENCE)
    protocol: Any = wire.protocol
    found: Release[Any] = protocol.estimate(tally, CONFIDENCE)
    return found


def summary(
    question: PollQuestion, wire: Wire, answers: int, kept: bytes, earlier: Sequence[tuple[Wire, Counts]] = ()
) -> dict[str, Any]:
    """The data of a dashboard, in JSON types."""
    found, searched = release(question, wire, answers, kept, earlier), question.kind == "open"
    told: dict[str, Any] = {"answers": answers, "raw": [] if searched else _raw(wire, answers, kept)}
    told["beyond"] = implausible(wire, answers, kept)
    told["error"] = None if found is None or searched else error_at(question, wire, answers)
    told["estimate"] = _rows(wire, found)
    if searched:
        told["tree"] = [
            _rows(one, release(question, one, *counts, earlier[:place])) for place, (one, counts) in enumerate(earlier)
        ]
    return told


def _rows(wire: Wire, found: Release[Any] | None) -> list[dict[str, Any]]:
    """The estimate with its interval, one row for each answer."""
    if found is None or found.interval is None:
        return []
    labels = ["mean"] if isinstance(wire.protocol, OneBitMean) else list(found.labels)
    columns = [np.atleast_1d(np.asarray(part, float)).tolist() for part in (found.value, *_ends(found))]
    names = ("label", "value", "low", "high")
    return [dict(zip(names, row, strict=True)) for row in zip(labels, *columns, strict=True)]


def _ends(found: Release[Any]) -> tuple[Any, Any]:
    assert found.interval is not None
    return found.interval.low, found.interval.high


def _raw(wire: Wire, answers: int, kept: bytes) -> list[dict[str, Any]]:
    """How many reports say what, before the noise is taken out; texts have only bits, which say nothing by eye."""
    if wire.cohorts:
        return []
    labels = ("0", "1") if isinstance(wire.protocol, OneBitMean) else _labels(wire)
    counts = wire.counters(kept).tolist()
    return [
        {"label": label, "count": count, "share": count / answers if answers else None}
        for label, count in zip(labels, counts, strict=True)
    ]


def _labels(wire: Wire) -> tuple[str, ...]:
    assert isinstance(wire.protocol, FrequencyProtocol)
    return wire.protocol.categories.labels


def event(name: str, told: dict[str, Any]) -> bytes:
    """A server-sent event as bytes."""
    return f"event: {name}\ndata: {json.dumps(told)}\n\n".encode()


def error_at(question: PollQuestion, wire: Wire, answers: int) -> float:
    """The half-width of the interval after `answers` answers; for texts, the smallest share that is found."""
    protocol = wire.protocol
    if question.kind == "open":
        return search(question).detection_limit(answers)
    if isinstance(protocol, Rappor):
        return detection_limit(protocol, people=answers, candidates=len(question.choices))
    assert isinstance(protocol, FrequencyProtocol | OneBitMean)
    return protocol.expected_error(answers, confidence=CONFIDENCE)


def error_table(question: PollQuestion, wire: Wire) -> list[tuple[int, float]]:
    """The expected error for each number of answers in a fixed list."""
    return [(size, error_at(question, wire, size)) for size in SIZES]


def people_for(wire: Wire, error: float) -> int | None:
    """How many answers reduce the error to `error`; None where no number would."""
    if isinstance(wire.protocol, Rappor):
        return None
    assert isinstance(wire.protocol, FrequencyProtocol | OneBitMean)
    try:
        return wire.protocol.people_for(error=error)
    except InvalidArgument:
        return None
