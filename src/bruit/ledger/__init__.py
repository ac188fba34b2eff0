"""The book of one data set: it refuses to overspend."""

from bruit.ledger.accountants import Amount
from bruit.ledger.budget import WITHOUT_PRIVACY, Budget, Charge, Payment, WithoutPrivacy, require
from bruit.ledger.entries import Entry
from bruit.ledger.ledger import Ledger
from bruit.ledger.partition import Partition
from bruit.ledger.statement import page, statement

__all__ = [
    "WITHOUT_PRIVACY",
    "Amount",
    "Budget",
    "Charge",
    "Entry",
    "Ledger",
    "Partition",
    "Payment",
    "WithoutPrivacy",
    "page",
    "require",
    "statement",
]
