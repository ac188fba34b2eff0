"""Previews the error and the price of a release before it is paid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bruit.apps.steward.question import FileStatistic
from bruit.ledger import Amount, Ledger
from bruit.tables import Table


def preview(question: FileStatistic, table: Table, book: Ledger, price: Mapping[str, str]) -> dict[str, Any]:
    """The expected error, the guarantee, the price and what would be left; no row is read, nothing is charged."""
    rehearsed, spent = question.rehearsal(table, book, price)
    left = book.remaining
    return {
        "preview": True,
        "statistic": question.statistic,
        "expected_error": question.expected(rehearsed, table, book, price),
        "notes": question.notes(table),
        "guarantee": rehearsed.guarantee.to_json(),
        "promise": str(rehearsed.guarantee),
        **remaining_of(book),
        "price": float(spent),
        "left_after": float(left.total - spent),
        "enough": left.total >= spent,
    }


def remaining_of(book: Ledger) -> dict[str, Any]:
    """The remaining budget of a ledger, in its own measure."""
    remaining: Amount = book.remaining
    return {"ledger": book.name, "measure": remaining.measure, "left": float(remaining.total)}
