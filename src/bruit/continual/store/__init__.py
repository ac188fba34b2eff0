"""Stores the state of streams beside the ledger that paid for them."""

from bruit.continual.store.state import (
    StoredState,
    StoredValues,
    check_digest,
    create,
    find,
    lock,
    mark_paid,
    prepare_store,
    read_state,
    replace_unpaid,
    set_generation,
    stream_names,
    values_at,
    values_between,
    write,
)
from bruit.continual.store.turns import admit, period_of, read_sources, record_sources

__all__ = [
    "StoredState",
    "StoredValues",
    "admit",
    "check_digest",
    "create",
    "find",
    "lock",
    "mark_paid",
    "period_of",
    "prepare_store",
    "read_sources",
    "read_state",
    "record_sources",
    "replace_unpaid",
    "set_generation",
    "stream_names",
    "values_at",
    "values_between",
    "write",
]
