"""Stored sessions: sign-ins survive a restart; the table holds only hashes, useless to a thief."""

from __future__ import annotations

from bruit.apps.web.polls.store.tables import prepare_tables, sessions
from bruit.apps.web.security.sessions import Session
from bruit.storage import connect, reading, writing


class SessionStore:
    """The sessions of one database."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        prepare_tables(self._engine)

    def all(self, now: int) -> list[Session]:
        """The sessions that have not ended; the others are deleted."""
        with writing(self._engine) as connection:
            connection.execute(sessions.delete().where(sessions.c.expires <= now))
        with reading(self._engine) as connection:
            return [Session(**row._mapping) for row in connection.execute(sessions.select())]

    def add(self, session: Session) -> None:
        """Stores a session."""
        with writing(self._engine) as connection:
            connection.execute(sessions.insert().values(vars(session)))

    def end(self, identity: str) -> None:
        """Ends one session."""
        with writing(self._engine) as connection:
            connection.execute(sessions.delete().where(sessions.c.identity == identity))

    def end_all(self, subject: str) -> None:
        """Ends every session of the steward, or of a poll."""
        with writing(self._engine) as connection:
            connection.execute(sessions.delete().where(sessions.c.subject == subject))
