"""The database of polls: reports and their counts, sessions, admissions."""

from bruit.apps.web.polls.store.reports import (
    Counts,
    Key,
    NewReport,
    Outcome,
    ReportStore,
    StoredPoll,
)
from bruit.apps.web.polls.store.sessions import SessionStore

__all__ = ["Counts", "Key", "NewReport", "Outcome", "ReportStore", "SessionStore", "StoredPoll"]
