"""Forwards reports in shuffled batches under fresh tokens, so that the collector sees no sender, time or order.

The collector sees n reports in random order. If it and the shuffler do not join, and the others of a batch followed the
noise, each respondent has the bound of `bruit.local.shuffled` against the collector; against the shuffler, which sees
who sends what, the ε of the report itself.                       [Feldman, McMillan & Talwar 2021, Theorem 3.1]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from bruit.apps.languages import FALLBACK, Language
from bruit.apps.web.client import AT_ONCE
from bruit.apps.web.polls.store.mixtures import Mixed, MixtureStore
from bruit.apps.web.report_format import Wire
from bruit.core.guarantee import Guarantee
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument, ProtocolError
from bruit.local import protocol_from_json, shuffled

LEAST: Final = 10
"""Fewer reports are not mixed: nobody hides among so few."""
TIMEOUT: Final = 30.0


class Shuffler:
    """The shuffler of one poll at a collector's link, such as https://polls.example.org/p/abcdefghjk."""

    def __init__(self, link: str, store: str, *, least: int, delta: Exact) -> None:
        base, mark, self.identity = link.rstrip("/").rpartition("/p/")
        if not mark or not base.startswith(("http://", "https://")):
            raise InvalidArgument("a poll's link looks like https://polls.example.org/p/abcdefghjk")
        if least < LEAST:
            raise InvalidArgument(f"least={least}: a batch has at least {LEAST} reports; hundreds protect better")
        self.collector, self.least, self.delta = base, least, delta
        self.store = MixtureStore(store)
        described = self._describe_poll()
        if described["admission"] is not None:
            raise InvalidArgument("a poll with cards is not shuffled: nobody can link its reports to people already")
        if described["search"] is not None:
            raise InvalidArgument("an open question is not shuffled: each of its rounds waits for the one before")
        self.wire = Wire(protocol_from_json(described["protocol"]))
        self.epsilon = exactly(getattr(self.wire.protocol, "epsilon", None) or _loss(self.wire), "epsilon")

    def _describe_poll(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self.fetch(f"/api/polls/{self.identity}"))
        except HTTPError as error:
            raise InvalidArgument(f"{self.collector} has no open poll {self.identity}: status {error.code}") from error
        except (URLError, OSError, json.JSONDecodeError) as error:
            raise InvalidArgument(f"{self.collector} does not answer; check the link and the network") from error
        return found

    def guarantee(self, people: int) -> Guarantee:
        """The guarantee that a batch of `people` reports gives each respondent against the collector."""
        return shuffled(self.epsilon, people, delta=self.delta)

    def take(self, number: int, token: str, report: object) -> bool:
        """Stores a report until its batch; False where it was sent before. Refuses an invalid report."""
        return self.store.keep(number, token, self._checked(report))

    def _checked(self, report: object) -> str:
        self.wire.read(report)
        return json.dumps(report)

    def hand_on(self) -> int:
        """Shuffles and forwards the waiting batch if it is large enough; returns how many reports were counted."""
        batch = self.store.mix(self.least)
        if not batch:
            return 0
        counted = sum(self._send(batch[at : at + AT_ONCE]) for at in range(0, len(batch), AT_ONCE))
        self.store.forget()
        return counted

    def fetch(self, path: str, body: bytes | None = None, *, language: Language = FALLBACK) -> bytes:
        """The collector's response to a path; of a respondent's request only the language is forwarded: one of ours."""
        asked = Request(self.collector + path, body, {"content-type": "application/json", "accept-language": language})
        with urlopen(asked, timeout=TIMEOUT) as answer:
            found: bytes = answer.read()
        return found

    def _send(self, batch: Sequence[Mixed]) -> int:
        lines = [{"token": one.sent_as, "round": one.round, "report": json.loads(one.report)} for one in batch]
        body = json.dumps({"reports": lines}, separators=(",", ":")).encode()
        try:
            return int(json.loads(self.fetch(f"/api/polls/{self.identity}/reports/many", body))["counted"])
        except HTTPError as error:
            raise ProtocolError(f"the collector refused a batch with status {error.code}; it waits here") from error
        except (URLError, OSError, json.JSONDecodeError) as error:
            raise ProtocolError("the collector does not answer; the batch waits here") from error


def _loss(wire: Wire) -> Exact:
    """The ε of one report where a protocol names none of its own."""
    protocol: Any = wire.protocol
    found: Exact = protocol.law.once
    return found
