"""One poll whose shuffler is a program of its own: people → `bruit shuffle` → `bruit serve`, over HTTP.

The collector never meets a respondent: it gets one batch in random order, under tokens that the shuffler drew. The two
programs share nothing but the link of the poll; each has its own process, port and database.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NotRequired, TypedDict
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from bruit.errors import ProtocolError
from bruit.local import Warner

PROGRAM = ("-c", "from bruit.apps.cli import main; main()")
WAIT = 60.0
"""Seconds until a batch must have arrived: the shuffler looks every few seconds whether one is full."""


@dataclass(frozen=True)
class Poll:
    """What the collector found, and the ε that the shuffler stated for the batch."""

    share: float
    low: float
    high: float
    batch_epsilon: float


def hold_poll(truth: NDArray[np.bool_], *, epsilon: str, delta: float, rng: np.random.Generator) -> Poll:
    """Asks everybody a yes-or-no question at this ε through a shuffler that waits for all of them."""
    with TemporaryDirectory() as folder, ExitStack() as running:
        key = secrets.token_urlsafe(32)
        collector = running.enter_context(_program(Path(folder), "serve", "--key", key))["address"]
        identity = _publish(collector, key, epsilon)
        asked = ("shuffle", f"{collector}/p/{identity}", "--least", str(len(truth)), "--delta", str(delta))
        shuffler = running.enter_context(_program(Path(folder), *asked))
        path = f"/api/polls/{identity}"
        for report in Warner(epsilon=epsilon).randomise(truth, rng=rng).values.tolist():
            body = {"token": secrets.token_hex(16), "round": 1, "report": int(report)}
            _call(shuffler["address"], f"{path}/reports", body)
        yes = _wait_for(collector, f"{path}/results", len(truth))
        return Poll(yes["value"], yes["low"], yes["high"], float(Fraction(shuffler["guarantee"]["epsilon"])))


class Started(TypedDict):
    """What `bruit serve` and `bruit shuffle` say when they listen; the guarantee is the shuffler's."""

    address: str
    guarantee: NotRequired[dict[str, str]]


class Answered(TypedDict, total=False):
    """What the collector says of a poll: its identity when it is made, its estimates when it is asked."""

    id: str
    answers: int
    estimate: list[dict[str, float]]


@contextmanager
def _program(folder: Path, *words: str) -> Iterator[Started]:
    """A command of bruit in a process of its own, and what it says when it listens; ended afterwards."""
    store = f"sqlite:///{folder}/{words[0]}.db"
    command = [sys.executable, *PROGRAM, *words, "--port", "0", "--store", store, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(_until_closed(process.stdout))
        finally:
            process.terminate()


def _until_closed(lines: Iterator[str]) -> str:
    """Reads the lines of one JSON object, up to its closing brace."""
    said = ""
    for line in lines:
        said += line
        if line.startswith("}"):
            return said
    raise ProtocolError("a program of the poll ended before it listened; run `bruit serve` by itself to see why")


def _publish(collector: str, key: str, epsilon: str) -> str:
    question = {"kind": "yes-no", "question": "More than 50 000 a year?", "epsilon": epsilon, "forever": None}
    draft = question | {"results": "everyone", "password": ""}
    return _call(collector, "/api/polls", draft, key)["id"]


def _wait_for(collector: str, path: str, people: int) -> dict[str, float]:
    """The estimate of yes, once everybody's report has arrived."""
    for _ in range(int(WAIT)):
        told = _call(collector, path)
        if told["answers"] == people:
            return told["estimate"][1]
        time.sleep(1)
    raise ProtocolError("the shuffler handed on too few reports in a minute; run `bruit shuffle` by itself to see why")


def _call(address: str, path: str, body: object = None, key: str | None = None) -> Answered:
    """The JSON answer of a request; with a body it is a POST, with a key the steward's."""
    place = urlsplit(address)
    headers = {"content-type": "application/json"} | ({} if key is None else {"authorization": f"Bearer {key}"})
    connection = HTTPConnection(place.hostname or "", place.port, timeout=30)
    connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    said = answer.read().decode()
    connection.close()
    if answer.status >= 400:
        raise ProtocolError(f"{path} answered {answer.status}: {said}")
    found: Answered = json.loads(said)
    return found
