"""Opens SQLite (WAL, immediate transactions) or PostgreSQL, one engine per process, with a schema number."""

from bruit.storage.engines import absolute, connect, exists
from bruit.storage.schema import prepare
from bruit.storage.transactions import reading, writing

__all__ = ["absolute", "connect", "exists", "prepare", "reading", "writing"]
