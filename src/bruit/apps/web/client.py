"""Answer a poll from Python: noise on this device, then only the report is sent. Needs nothing but bruit itself."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np

from bruit.apps.web.wire import Wire
from bruit.errors import BruitError, InvalidArgument
from bruit.local import LocalProtocol, protocol_from_json

AT_ONCE: Final = 500
"""Reports in one request, well below what a request may hold."""


class NotDelivered(BruitError):
    """The collector did not say that a report is on its disk; send the same reports again."""


@dataclass(frozen=True)
class Sealed:
    """Reports with their tokens, ready to be sent as often as it takes: each is counted once."""

    reports: tuple[tuple[str, Any], ...]
    round: int


class PollClient:
    """A poll at its link, such as http://127.0.0.1:8000/p/abcdefghjk."""

    def __init__(self, link: str, *, timeout: float = 30.0) -> None:
        base, mark, identity = link.rstrip("/").rpartition("/p/")
        if not mark or not base.startswith(("http://", "https://")):
            raise InvalidArgument("a poll's link looks like http://127.0.0.1:8000/p/abcdefghjk")
        self._address, self._timeout = f"{base}/api/polls/{identity}", timeout
        told = self._ask(self._address, None)
        self.question: str = told["question"]
        self.round: int = told["round"]
        self.protocol: LocalProtocol = protocol_from_json(told["protocol"])

    def seal(self, answers: Iterable[Any], *, rng: np.random.Generator | None = None) -> Sealed:
        """One noised report for each answer, each of a respondent of their own; nothing is sent yet.

        A respondent who comes back for another round needs the memory of `bruit.local.Client` or `RapporClient`:
        give its reports to `sealed`.
        """
        return self.sealed(self.protocol.randomise(list(answers), rng=rng))

    def sealed(self, reports: Any) -> Sealed:
        """Reports that were made elsewhere, with fresh tokens."""
        sent = Wire(self.protocol).sent(reports)
        return Sealed(tuple((secrets.token_hex(16), report) for report in sent), self.round)

    def send(self, sealed: Sealed) -> int:
        """Sends reports until the collector has them on disk; how many of them were new to it."""
        return sum(self._send(part, sealed.round) for part in _parts(sealed.reports))

    def answer(self, answer: Any) -> bool:
        """Noises one answer here and sends the report."""
        return self.send(self.seal([answer])) == 1

    def _send(self, part: Sequence[tuple[str, Any]], number: int) -> int:
        body = {"reports": [{"token": token, "round": number, "report": report} for token, report in part]}
        counted: int = self._ask(f"{self._address}/reports/many", body)["counted"]
        return counted

    def _ask(self, address: str, body: Any) -> Any:
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        request = Request(address, data, {"content-type": "application/json"})
        try:
            with urlopen(request, timeout=self._timeout) as response:
                return json.load(response)
        except HTTPError as error:
            raise NotDelivered(f"the collector refused: {_detail(error)}") from error
        except (URLError, OSError, json.JSONDecodeError) as error:
            raise NotDelivered("the collector did not answer; send the same reports again") from error


def _parts(reports: Sequence[tuple[str, Any]]) -> Iterable[Sequence[tuple[str, Any]]]:
    return (reports[start : start + AT_ONCE] for start in range(0, len(reports), AT_ONCE))


def _detail(error: HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (json.JSONDecodeError, KeyError, TypeError):
        return f"status {error.code}"
