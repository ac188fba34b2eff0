"""Answers a split poll from Python, so that no script sent by a collector needs to be trusted."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from bruit.aggregation import Task, task_from_text
from bruit.aggregation.collecting import ReportRow
from bruit.aggregation.sealing import seal
from bruit.aggregation.tasks import TOKEN
from bruit.errors import BruitError, ProtocolError

TIMEOUT: Final = 30.0


class NotDelivered(BruitError):
    """A report that the first collector refused, or that may not have arrived."""


class SplitPollClient:
    """A participant's client of one split poll; refuses a task whose text does not match its name's hash."""

    def __init__(self, address: str, name: str) -> None:
        self._address = f"{address.rstrip('/')}/collectors/api/{name}"
        self.task: Task = task_from_text(str(self._ask(self._address, None)["task"]))
        if self.task.name != name:
            raise ProtocolError("the collector answered with another poll than was asked for; nothing was sent")

    def seal(self, answer: int | Sequence[int], *, token: bytes | None = None) -> bytes:
        """The report as bytes: both shares, the second encrypted. Keep it, to send the same bytes again."""
        split = self.task.scheme.shard([answer])
        nonce, public, first, second = (part[0].tobytes() for part in (split.nonces, split.public, *split.shares))
        row = ReportRow(nonce, secrets.token_bytes(TOKEN) if token is None else token, public, first)
        return b"".join(row[:4]) + seal(self.task, row, second)

    def send(self, report: bytes) -> bool:
        """Sends a report until it is stored; returns whether it was new."""
        return bool(self._ask(f"{self._address}/reports", report)["counted"])

    def answer(self, answer: int | Sequence[int]) -> bool:
        """Splits one answer on this device and sends the report."""
        return self.send(self.seal(answer))

    def _ask(self, address: str, body: bytes | None) -> dict[str, Any]:
        try:
            with urlopen(Request(address, body), timeout=TIMEOUT) as response:
                found: dict[str, Any] = json.load(response)
                return found
        except HTTPError as error:
            raise NotDelivered(f"the collector refused with status {error.code}: {error.read().decode()}") from error
        except (URLError, OSError, json.JSONDecodeError) as error:
            raise NotDelivered("the collector did not answer; send the same bytes again") from error
