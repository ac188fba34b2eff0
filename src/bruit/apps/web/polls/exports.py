"""What can be taken away: reports and estimates as CSV, and the code that makes the one from the other."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

from bruit.apps.web.polls import results
from bruit.apps.web.polls.collector import LivePoll
from bruit.storage.reports import ReportStore

_CODE = '''"""Reproduces the estimate of a poll from its noised reports: python reproduce.py reports.csv"""

import csv
import sys

from bruit.apps.web import Wire
from bruit.local import {imports}

QUESTION = {question}
PROTOCOL = protocol_from_json({protocol})
CANDIDATES = {candidates}

with open(sys.argv[1], newline="", encoding="utf-8") as file:
    reports = Wire(PROTOCOL).received([row["report"] for row in csv.DictReader(file)])
tally = PROTOCOL.tally(reports)
release = {estimate}
print(QUESTION, f"({{len(reports)}} reports)")
print(release.frame().write_csv(), end="")
print(release.guarantee)
'''


def reports_csv(store: ReportStore, poll: LivePoll) -> Iterator[str]:
    """The reports of the round, one a line, in the order of their random tokens, which are left out."""
    yield "report\n"
    for _, report in store.reports(*poll.key):
        yield f"{report}\n"


def estimates_csv(poll: LivePoll) -> str:
    """The estimate with its interval, one line an answer."""
    told, text = results.summary(poll.question, poll.wire, *poll.counts), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["answer", "estimate", "low", "high", "confidence", "reports", "epsilon"])
    for row in told["estimate"]:
        ends = [row["value"], row["low"], row["high"]]
        writer.writerow([_safe(row["label"]), *ends, results.CONFIDENCE, told["answers"], poll.question.epsilon])
    return text.getvalue()


def code(poll: LivePoll) -> str:
    """The Python that makes the same estimate from the same reports."""
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


def _safe(label: str) -> str:
    """A label that no spreadsheet takes for a formula."""
    return f"'{label}" if label[:1] in ("=", "+", "-", "@", "\t", "\r") else label
