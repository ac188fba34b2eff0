"""A collector of secret-shared answers: its state on disk and its protocol with the other collector."""

from bruit.aggregation.collecting.collector import Collector
from bruit.aggregation.collecting.exchange import STEPS, Ask, converse, reply
from bruit.aggregation.collecting.pairings import Pairing, Pairings, identity_of
from bruit.aggregation.collecting.store import CollectorStore, Reception, Record, ReportRow, State

__all__ = [
    "STEPS",
    "Ask",
    "Collector",
    "CollectorStore",
    "Pairing",
    "Pairings",
    "Reception",
    "Record",
    "ReportRow",
    "State",
    "converse",
    "identity_of",
    "reply",
]
