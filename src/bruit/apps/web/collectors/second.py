"""The second collector: joins by a link, waits, fetches its encrypted shares, and finishes the poll.

It only asks, by outgoing requests: it needs no open port, no certificate and no address. Ended at any point and
started again with the same link and store, it goes on where it was.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from bruit.aggregation import Task, key_hash, task_from_text
from bruit.aggregation.collecting import Collector, Pairings, ReportRow, State, converse, identity_of
from bruit.aggregation.sealing import SealingKey
from bruit.errors import InvalidArgument, ProtocolError

WAIT: Final = 2.0
"""Seconds between two looks at an open poll."""
TIMEOUT: Final = 60.0
BUSY: Final = (429, 500, 502, 503, 504)
"""Statuses of a server that has too much to do, or no database just now."""
_ENDED: Final = (State.PUBLISHED, State.TOO_FEW)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Invited:
    """A parsed invitation link: the address of the first collector and the secret."""

    address: str
    secret: str

    @classmethod
    def read(cls, link: str) -> Invited:
        """Parses a link such as https://host/collectors/join/secret."""
        address, mark, secret = link.partition("/collectors/join/")
        if not mark or not secret or not urlsplit(address).hostname:
            raise InvalidArgument("this is no invitation: a link looks like https://host/collectors/join/…")
        return cls(address, secret)

    def ask(self, path: str, body: bytes | None = None, *, kind: str = "application/octet-stream") -> bytes:
        """Sends a request to the first collector and returns its answer; its error messages are passed on."""
        headers = {"authorization": f"Bearer {self.secret}", "content-type": kind}
        request = Request(f"{self.address}/collectors/api/{path}", body, headers)
        try:
            with urlopen(request, timeout=TIMEOUT) as response:
                answer: bytes = response.read()
                return answer
        except HTTPError as error:
            if error.code in BUSY:  # like a server that does not answer: worth asking again
                raise
            raise ProtocolError(f"the first collector refused: {_detail(error)}") from error


class SecondCollector:
    """One split poll at the second collector."""

    def __init__(self, link: str, store: str, *, name: str, say: Say = lambda _: None) -> None:
        self.invited, self.store, self.say = Invited.read(link), store, say
        self._pairings, self._identity = Pairings(store), identity_of(self.invited.secret)
        fresh = {"name": name, "sealing": SealingKey().private.hex(), "verification": secrets.token_hex(32)}
        self._details: dict[str, Any] = self._pairings.keep(self._identity, fresh).details  # the first keys stay
        self.task = self._join()
        self.collector = self._take_on()

    @property
    def sealing_key(self) -> SealingKey:
        """The key pair that the second shares are encrypted to."""
        return SealingKey(bytes.fromhex(self._details["sealing"]))

    def _join(self) -> Task:
        """Brings name and keys to the first collector; the task it answers with must hold exactly them."""
        known = self._pairings.find(self._identity)
        if known is not None and known.task:
            return Collector(self.store, known.task).task
        public, key = self.sealing_key.public.hex(), self._details["verification"]
        body = {"name": self._details["name"], "sealing_key": public, "verification_key": key}
        path = f"join/{self.invited.secret}"
        try:
            answered = json.loads(self.invited.ask(path, json.dumps(body).encode(), kind="application/json"))
        except (URLError, OSError) as error:
            raise ProtocolError("the first collector does not answer; run the same command again") from error
        task = task_from_text(answered["task"])
        if task.parties[1].key != public or task.key_hash != key_hash(bytes.fromhex(key)):
            raise ProtocolError("the first collector made a task with other keys than ours; do not use it")
        return task

    def _take_on(self) -> Collector:
        known = self._pairings.find(self._identity)
        if known is not None and known.task:
            return Collector(self.store, known.task)
        key = bytes.fromhex(self._details["verification"])
        made = Collector.create(self.store, self.task, role=1, key=key)
        self._pairings.join(self._identity, self.task.name, {**self._details, "verification": ""})
        return made

    # ------------------------------------------------------------ to the end
    def follow(self, *, wait: float = WAIT) -> State:
        """Waits until the poll is closed, then fetches, verifies, adds noise and publishes; resumes after a stop."""
        while self.collector.state not in _ENDED:
            try:
                if self.collector.state is State.OPEN and not self._pull():
                    time.sleep(wait)
                    continue
                converse(self.collector, self._step)
            except (URLError, OSError):
                self.say("The first collector does not answer; trying again.")
                time.sleep(wait)
        if "sealing" in self._details:
            self._pairings.join(self._identity, self.task.name, {"name": self._details["name"]})
        return self.collector.state

    def _pull(self) -> bool:
        """Gets every report of a closed poll and closes; False while it is open."""
        described = json.loads(self.invited.ask(self.task.name))
        if described["state"] == State.OPEN:
            self.say(f"Open: {described['received']} reports so far.")
            return False
        after, key = b"", self.sealing_key
        while rows := self._rows(after):
            self.collector.receive([opened for row in rows if (opened := self._opened(key, row)) is not None])
            after = rows[-1].nonce
        self.collector.close()
        return True

    def _rows(self, after: bytes) -> list[ReportRow]:
        nonce, token, public, _ = self.task.part_sizes(1)
        size = nonce + token + public + self.task.sealed_size
        data = self.invited.ask(f"{self.task.name}/rows?after={after.hex()}")
        if len(data) % size:
            raise ProtocolError(f"the first collector sent {len(data)} bytes of reports, not a multiple of {size}")
        found = []
        for at in range(0, len(data), size):
            row = data[at : at + size]
            parts = (row[:nonce], row[nonce : nonce + token], row[nonce + token : nonce + token + public])
            found.append(ReportRow(*parts, b"", row[nonce + token + public :]))
        return found

    def _opened(self, key: SealingKey, row: ReportRow) -> ReportRow | None:
        """The report with its half decrypted; None, which is not counted, if it was encrypted for something else."""
        try:
            return row._replace(share=key.open(self.task, row), sealed=b"")
        except ProtocolError:
            return None

    def _step(self, step: str, message: bytes) -> bytes:
        return self.invited.ask(f"{self.task.name}/steps/{step}", message)


def _detail(error: HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (json.JSONDecodeError, KeyError, TypeError, UnicodeDecodeError):
        return f"status {error.code}"
