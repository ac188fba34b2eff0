"""Downloads of a poll: reports and estimates as CSV, and Python code that computes one from the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import polars

from bruit.apps.steward.csv_safety import csv_of
from bruit.apps.web.polls import results
from bruit.apps.web.polls.live_poll import LivePoll
from bruit.apps.web.polls.question import search
from bruit.apps.web.polls.store import ReportStore
from bruit.local import PrefixRounds

_CODE = '''"""Reproduces the estimate of a poll from its noised reports: python reproduce.py reports.csv"""

import csv
import sys

from bruit.apps.web import Wire
from bruit.local import {imports}

QUESTION = {question}
PROTOCOL = protocol_from_json({protocol})
CANDIDATES = {candidates}

with open(sys.argv[1], newline="", encoding="utf-8") as file:
    reports = Wire(PROTOCOL).from_wire([row["report"] for row in csv.DictReader(file)])
tally = PROTOCOL.tally(reports)
release = {estimate}
print(QUESTION, f"({{len(reports)}} reports)")
print(release.frame().write_csv(), end="")
print(release.guarantee)
'''

_ROUNDS_CODE = '''"""Reproduces what a poll found from its noised reports: python reproduce.py reports.csv"""

import csv
import sys

from bruit.apps.web import Wire
from bruit.local import PrefixRounds

QUESTION = {question}
SEARCH = {search}

with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = [(int(row["round"]), row["report"]) for row in csv.DictReader(file)]
tallies = []
for number in range(1, max(number for number, _ in rows) + 1):
    protocol = SEARCH.protocol(tallies)
    reports = Wire(protocol).from_wire([report for round, report in rows if round == number])
    tallies.append(protocol.tally(reports))
release = SEARCH.find(tallies)
print(QUESTION, f"({{len(rows)}} reports in {{len(tallies)}} of {{SEARCH.rounds}} rounds)")
print(release.frame().write_csv(), end="")
print(release.guarantee)
'''


def reports_csv(store: ReportStore, poll: LivePoll) -> Iterator[str]:
    """The reports of the round, one per line, in the order of their random tokens, which are left out.

    Those of an open question are of all its rounds, each with its number.
    """
    identity, last = poll.key
    if poll.question.kind != "open":
        yield "report\n"
        yield from (f"{report}\n" for _, report in store.reports(identity, last))
        return
    yield "round,report\n"
    for number in range(1, last + 1):
        yield from (f"{number},{report}\n" for _, report in store.reports(identity, number))


def estimates_csv(poll: LivePoll, told: dict[str, Any]) -> str:
    """The estimates with intervals, one line per answer, and whether the reports are plausible."""
    columns = {"answer": polars.String, "estimate": polars.Float64, "low": polars.Float64, "high": polars.Float64}
    rows = [(row["label"], row["value"], row["low"], row["high"]) for row in told["estimate"]]
    frame = polars.DataFrame(rows, columns, orient="row").with_columns(
        confidence=polars.lit(results.CONFIDENCE),
        reports=polars.lit(told["answers"]),
        epsilon=polars.lit(float(poll.question.epsilon)),
        plausible=polars.lit(not told["beyond"]),
    )
    return csv_of(frame)


def code(poll: LivePoll) -> str:
    """The Python program that makes the same estimate from the same reports."""
    if poll.question.kind == "open":
        return _ROUNDS_CODE.format(question=repr(poll.question.question), search=_written(search(poll.question)))
    texts = bool(poll.wire.cohorts)
    return _CODE.format(
        imports="decode, protocol_from_json" if texts else "protocol_from_json",
        question=repr(poll.question.question),
        protocol=repr(json.dumps(poll.wire.protocol.to_json(), ensure_ascii=False)),
        candidates=repr(poll.question.choices) if texts else "[]",
        estimate=f"decode(tally, CANDIDATES, confidence={results.CONFIDENCE})"
        if texts
        else f"PROTOCOL.estimate(tally, {results.CONFIDENCE})",
    )


def _written(found: PrefixRounds) -> str:
    settings = f"{found.alphabet!r}, {found.length}, rounds={found.rounds}, epsilon={str(found.epsilon)!r}"
    return f"PrefixRounds({settings})"
