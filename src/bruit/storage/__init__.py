"""Opens SQLite or PostgreSQL, one engine per process, with a schema number."""

__all__: list[str] = []
