"""Publishes a poll."""

from __future__ import annotations

import asyncio
import time

from bruit.apps.web.admission.issuing import new_signing_key
from bruit.apps.web.polls import access
from bruit.apps.web.polls.collector import Collector
from bruit.apps.web.polls.question import PollQuestion, definition
from bruit.apps.web.polls.store import StoredPoll
from bruit.apps.web.settings import hash_secret, new_key


async def publish(collector: Collector, question: PollQuestion, password: str) -> tuple[str, str]:
    """Stores a new poll; returns its identity and its link's secret, of which only the hash is stored."""
    secret = new_key()
    fields = await asyncio.to_thread(access.password_fields, password)
    poll = StoredPoll(
        identity=access.new_identity(),
        definition=definition(question),
        link_hash=hash_secret(secret),
        created=int(time.time()),
        password_hash=fields.get("password_hash", ""),
        password_salt=fields.get("password_salt", ""),
    )
    private = await asyncio.to_thread(new_signing_key) if question.admission == "cards" else None
    await asyncio.to_thread(collector.store.create, poll)
    if private is not None:
        await asyncio.to_thread(collector.admissions.keep_key, poll.identity, private)
    return poll.identity, secret
