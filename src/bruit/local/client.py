"""A respondent's device in a longitudinal protocol: its memoised responses and the privacy loss so far."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import whole
from bruit.errors import BadFile, BruitError, InvalidArgument
from bruit.local.kept_state import replace_file
from bruit.local.longitudinal.loloha import LOLOHA
from bruit.local.longitudinal.memoised import Longitudinal
from bruit.local.protocol import protocol_from_json
from bruit.local.received import checked_flag
from bruit.local.tally import Reports
from bruit.randomness import generator, is_strong, words


class Client:
    """One respondent's device, whose memoised responses are as private as the answers and never leave it.

    `distinct` counts the different states memoised so far (answers, or buckets of LOLOHA); which they are has cost up
    to `spent`; when they changed is not hidden. `seeded` tells that the hash or a memoised response can be drawn again,
    which marks every later report. `reports` counts the reports that were sent: each of them says which one it is, so
    that a tally of several rounds knows that they are of the same respondents.

    A client that was given a `path`, was loaded or was saved once keeps its file up to date: a new state is on the disk
    before a report of it is drawn, so that a crash can only count too much. Without a file it forgets when it ends.
    """

    def __init__(
        self, protocol: Longitudinal, *, path: Path | str | None = None, rng: np.random.Generator | None = None
    ) -> None:
        if not isinstance(protocol, Longitudinal):
            raise InvalidArgument("a client remembers the responses of a longitudinal protocol; others need no memory")
        self.protocol = protocol
        self._seed = words(generator(rng), 1) if isinstance(protocol, LOLOHA) else np.zeros(1, np.uint64)
        self.seeded = isinstance(protocol, LOLOHA) and not is_strong(rng)
        self._memory: dict[int, list[int]] = {}
        self.reports = 0
        self._path, self._unsaved = None if path is None else Path(path), True
        self._keep()

    @property
    def distinct(self) -> int:
        """How many different states (answers or hash buckets) have been memoised."""
        return len(self._memory)

    @property
    def spent(self) -> Fraction:
        """What all reports so far have lost of which states they are of: distinct states times `forever`.

        It bounds the loss against any other states that changed, and came back, at the same times. Against all others
        the bound is `protocol.after_changes(reports)`.
        """
        return self.protocol.forever * self.distinct

    def report(self, answer: Any, *, rng: np.random.Generator | None = None) -> Reports:
        """One report of the answer: the memoised response, drawn and saved if its state is new, under fresh noise."""
        source, place = generator(rng), self.protocol.categories.indices([answer])
        state = int(self._state(place))
        if state not in self._memory:
            self._memory[state] = self._memoised(place, source)
            self.seeded |= not is_strong(rng)
        self.reports, self._unsaved = self.reports + 1, True
        self._keep()
        kept, seeded = self._shaped(self._memory[state]), self.seeded or not is_strong(rng)
        return Reports(self.protocol, self.protocol.respond(kept, rng=source), seeded, self.reports)

    def _state(self, place: Any) -> int:
        if isinstance(self.protocol, LOLOHA):
            return int(self.protocol.hashed(place, self._seed)[0])
        return int(place[0])

    def _memoised(self, place: Any, source: np.random.Generator) -> list[int]:
        if isinstance(self.protocol, LOLOHA):
            bucket = self.protocol.permanent.send(self.protocol.hashed(place, self._seed), rng=source)
            seed = int(self._seed[0])
            return [seed & 0xFFFFFFFF, seed >> 32, int(bucket[0])]
        return [int(part) for part in np.atleast_1d(self.protocol.memoise(place, rng=source)[0])]

    def _shaped(self, kept: list[int]) -> NDArray[Any]:
        """A memoised response as the one row of a report."""
        sample = self.protocol.memoise(np.zeros(1, np.int32), rng=generator(None))
        row: NDArray[Any] = np.array([kept], dtype=sample.dtype)
        return row if sample.ndim == 2 else row.reshape(-1)

    def save(self, path: Path | str) -> None:
        """Writes the state to a file on the respondent's device, which every later report keeps up to date."""
        self._path, self._unsaved = Path(path), True
        self._keep()

    def _keep(self) -> None:
        """Brings the file up to date, where there is one; a state that could not be written stays unsaved."""
        if self._path is None or not self._unsaved:
            return
        state = {"protocol": self.protocol.to_json(), "seed": int(self._seed[0]), "seeded": self.seeded}
        state |= {"memory": list(self._memory.items()), "reports": self.reports}
        replace_file(self._path, json.dumps(state))
        self._unsaved = False

    @classmethod
    def load(cls, path: Path | str) -> Client:
        """The client whose state was saved."""
        try:
            state = json.loads(Path(path).read_text(encoding="utf-8"))
            client = cls(protocol_from_json(state["protocol"]))  # type: ignore[arg-type]
            client._seed = np.array([state["seed"]], np.uint64)
            client.seeded = checked_flag(state["seeded"])
            client._memory = {int(key): [int(part) for part in kept] for key, kept in state["memory"]}
            client.reports = whole(state.get("reports", 0), "reports", least=0)
            for kept in client._memory.values():
                client.protocol.tally(client._shaped(kept))
        except (BruitError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise BadFile(
                f"{Path(path).name} holds no client state: it was cut, or changed, or is of another kind"
            ) from error
        client._path, client._unsaved = Path(path), False
        return client
