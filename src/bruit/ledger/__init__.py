"""The book of one data set: it refuses to overspend."""

from bruit.ledger.budget import WITHOUT_PRIVACY, Budget, Charge, Payment, WithoutPrivacy, require
from bruit.ledger.entries import Entry
from bruit.ledger.ledger import Ledger

__all__ = ["WITHOUT_PRIVACY", "Budget", "Charge", "Entry", "Ledger", "Payment", "WithoutPrivacy", "require"]
