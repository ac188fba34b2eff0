"""Stored admissions: a poll's signing key, and its cards' one-time codes as hashes."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from bruit.apps.web.polls.store.tables import admission_keys, admissions, prepare_tables
from bruit.storage import connect, reading, writing


class Claim(StrEnum):
    """The result of using a card's code."""

    GRANTED = "granted"
    """Now, or before with the same blinded message: whoever got no answer asks again."""
    USED = "used for another message"
    UNKNOWN = "no code of this poll"


class AdmissionStore:
    """The admissions of one database."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        prepare_tables(self._engine)

    def keep_key(self, poll: str, private: bytes) -> None:
        """Stores the signing key of a new poll."""
        with writing(self._engine) as connection:
            connection.execute(admission_keys.insert().values(poll=poll, private=private))

    def key(self, poll: str) -> bytes | None:
        """The signing key of a poll; None where it has none."""
        line = admission_keys.select().where(admission_keys.c.poll == poll)
        with reading(self._engine) as connection:
            found = connection.execute(line).first()
        return None if found is None else bytes(found.private)

    def add(self, poll: str, codes: Sequence[str]) -> None:
        """Stores the hashes of new codes, each valid for one signature."""
        with writing(self._engine) as connection:
            connection.execute(admissions.insert(), [{"poll": poll, "code": code, "blinded": ""} for code in codes])

    def claim(self, poll: str, code: str, blinded: str) -> Claim:
        """Uses a code for one blinded message (both as hashes), atomically."""
        same = (admissions.c.poll == poll) & (admissions.c.code == code)
        with writing(self._engine) as connection:
            line = admissions.update().where(same & (admissions.c.blinded.in_(("", blinded)))).values(blinded=blinded)
            if connection.execute(line).rowcount:
                return Claim.GRANTED
            known = connection.execute(admissions.select().where(same)).first()
        return Claim.UNKNOWN if known is None else Claim.USED

    def count(self, poll: str) -> tuple[int, int]:
        """How many codes a poll has, and how many were used."""
        from sqlalchemy import func, select

        whole = select(func.count()).select_from(admissions).where(admissions.c.poll == poll)
        with reading(self._engine) as connection:
            made = int(connection.execute(whole).scalar_one())
            return made, int(connection.execute(whole.where(admissions.c.blinded != "")).scalar_one())
