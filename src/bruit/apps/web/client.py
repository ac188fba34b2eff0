"""Answers a poll from Python: adds noise on this device and sends only the report; needs no web framework."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np

from bruit.apps.web.admission.blind_signatures import PublicKey, blind, finalise, prepare
from bruit.apps.web.admission.tokens import token_of
from bruit.apps.web.report_format import Wire
from bruit.errors import BruitError, InvalidArgument
from bruit.local import FrequencyProtocol, LocalProtocol, PrefixRounds, protocol_from_json

AT_ONCE: Final = 500
"""Reports in one request, at most."""
LARGEST: Final = 48 * 1024
"""Bytes of the reports in one request, well below what a request may hold."""
BESIDE: Final = 80
"""Bytes that travel with a report: its token, its round and their names."""


class NotDelivered(BruitError):
    """The collector did not confirm that a report is stored; send the same sealed reports again."""


@dataclass(frozen=True)
class Sealed:
    """Reports with their tokens, which can be sent repeatedly: each is counted once."""

    reports: tuple[tuple[str, Any], ...]
    round: int


class PollClient:
    """A poll by its link, such as http://127.0.0.1:8000/p/abcdefghjk, or by a card's link with a code after #."""

    def __init__(self, link: str, *, timeout: float = 30.0) -> None:
        link, _, self._code = link.partition("#")
        base, mark, identity = link.rstrip("/").rpartition("/p/")
        if not mark or not base.startswith(("http://", "https://")):
            raise InvalidArgument("a poll's link looks like http://127.0.0.1:8000/p/abcdefghjk")
        self._address, self._timeout = f"{base}/api/polls/{identity}", timeout
        told = self._ask(self._address, None)
        self.question: str = told["question"]
        self.round: int = told["round"]
        self.protocol: LocalProtocol = protocol_from_json(told["protocol"])
        self._search = None if told["search"] is None else _search(told["search"], self.protocol)
        key = told["admission"]
        self._key = None if key is None else PublicKey(int(key["n"], 16), int(key["e"]))
        self._admission: dict[str, str] | None = None

    def seal(self, answers: Iterable[Any], *, rng: np.random.Generator | None = None) -> Sealed:
        """Randomises each answer into a report of a separate respondent; nothing is sent yet.

        A respondent who comes back for another round needs the memory of `bruit.local.Client` or `RapporClient`:
        give its reports to `seal_reports`. An open question is answered once, in the round of this client: each
        respondent draws one beforehand (`PrefixRounds.drawn_rounds`).
        """
        given = list(answers)
        if self._search is not None:
            assert isinstance(self.protocol, FrequencyProtocol)
            given = self._search.prefixes(given, self.protocol, self.round)
        return self.seal_reports(self.protocol.randomise(given, rng=rng))

    def seal_reports(self, reports: Any) -> Sealed:
        """Attaches fresh tokens to reports made elsewhere; in a poll with cards, this card's token."""
        sent = Wire(self.protocol).to_wire(reports)
        if self._key is None or not self._code:
            return Sealed(tuple((secrets.token_hex(16), report) for report in sent), self.round)
        if len(sent) != 1:
            raise InvalidArgument(f"{len(sent)} reports and one card: a card is for one report a round")
        admission = self._admission = self._admission or self._admit(self._key)
        token = token_of(bytes.fromhex(admission["message"]), self.round)
        return Sealed(((token, sent[0]),), self.round)

    def _admit(self, key: PublicKey) -> dict[str, str]:
        """What the card buys: a message of this device and its signature, which the issuer made blindly."""
        waiting = blind(key, prepare(secrets.token_bytes(32)))
        asked = {"code": self._code, "blinded": waiting.blinded.hex()}
        answer = bytes.fromhex(self._ask(f"{self._address}/admissions", asked)["signature"])
        return {"message": waiting.message.hex(), "signature": finalise(key, waiting, answer).hex()}

    def send(self, sealed: Sealed) -> int:
        """Sends reports until the collector has stored them; returns how many were new."""
        return sum(self._send(part, sealed.round) for part in _parts(sealed.reports))

    def answer(self, answer: Any) -> bool:
        """Randomises one answer on this device and sends the report; returns whether it was new."""
        return self.send(self.seal([answer])) == 1

    def _send(self, part: Sequence[tuple[str, Any]], number: int) -> int:
        more = {} if self._admission is None else {"admission": self._admission}
        body = {"reports": [{"token": token, "round": number, "report": report, **more} for token, report in part]}
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


def _search(told: dict[str, Any], protocol: LocalProtocol) -> PrefixRounds:
    return PrefixRounds(told["alphabet"], told["length"], rounds=told["rounds"], epsilon=Fraction(protocol.epsilon))


def _parts(reports: Sequence[tuple[str, Any]]) -> Iterable[Sequence[tuple[str, Any]]]:
    longest = max((len(json.dumps(report)) for _, report in reports), default=0) + BESIDE
    size = min(AT_ONCE, LARGEST // longest)
    return (reports[start : start + size] for start in range(0, len(reports), size))


def _detail(error: HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (json.JSONDecodeError, KeyError, TypeError):
        return f"status {error.code}"
