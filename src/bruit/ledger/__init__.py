"""Privacy-budget ledgers: the book of all charges to one data set, which refuses to overspend."""

from bruit.ledger.books.entries import Entry
from bruit.ledger.budget import WITHOUT_PRIVACY, Budget, Payment, WithoutPrivacy, require
from bruit.ledger.charges import Charge, Quote
from bruit.ledger.ledger import Ledger
from bruit.ledger.partition import Partition
from bruit.ledger.pricing import Amount
from bruit.ledger.recovery import mark_restored, repair_clock, resume
from bruit.ledger.statements import page, statement
from bruit.ledger.terms import Terms
from bruit.ledger.till import Purchase, ask

__all__ = [
    "WITHOUT_PRIVACY",
    "Amount",
    "Budget",
    "Charge",
    "Entry",
    "Ledger",
    "Partition",
    "Payment",
    "Purchase",
    "Quote",
    "Terms",
    "WithoutPrivacy",
    "ask",
    "mark_restored",
    "page",
    "repair_clock",
    "require",
    "resume",
    "statement",
]
