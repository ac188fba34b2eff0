"""Opens SQLite (WAL, immediate transactions) or PostgreSQL, one engine per process, with a schema number."""

from bruit.storage.backups import Backup, back_up, put_back
from bruit.storage.engines import absolute, close, connect, exists, truncate_wal
from bruit.storage.failures import FailureKind, failure_kind
from bruit.storage.lease import Lease
from bruit.storage.schema import Migration, prepare
from bruit.storage.transactions import reading, writing

__all__ = [
    "Backup",
    "FailureKind",
    "Lease",
    "Migration",
    "absolute",
    "back_up",
    "close",
    "connect",
    "exists",
    "failure_kind",
    "prepare",
    "put_back",
    "reading",
    "truncate_wal",
    "writing",
]
