"""A respondent's device that reports repeatedly: the memoised bits behind RAPPOR's longitudinal guarantee."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bruit.core.arguments import whole
from bruit.errors import BadFile, BruitError, InvalidArgument
from bruit.local.kept_state import replace_file
from bruit.local.protocol import protocol_from_json
from bruit.local.rappor.bloom import utf8
from bruit.local.rappor.protocol import Rappor
from bruit.local.rappor.tally import RapporReports
from bruit.local.received import checked_flag
from bruit.randomness import generator, is_strong, uniform_below


class RapporClient:
    """One respondent's device: its cohort and the memoised bits of each value reported so far.

    The state is as private as the values themselves and never leaves the device. `distinct` counts the different
    values protected so far; which they are has cost up to `spent`, and when they changed is not hidden. `seeded` tells
    that the cohort or a memoised response can be drawn again, which marks every later report. `reports` counts the
    reports that were sent.

    A client that was given a `path`, was loaded or was saved once keeps its file up to date: what a report is drawn
    from is on the disk before it leaves, so that a crash can only count too much.
    """

    def __init__(
        self,
        protocol: Rappor,
        *,
        cohort: int | None = None,
        path: Path | str | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        drawn = int(uniform_below(protocol.cohorts, 1, rng=rng)[0]) if cohort is None else cohort
        self.protocol, self.cohort = protocol, whole(drawn, "cohort", least=0, most=protocol.cohorts - 1)
        self.seeded = cohort is None and not is_strong(rng)
        self._memory: dict[str, list[int]] = {}
        self.reports = 0
        self._path = None if path is None else Path(path)
        self._keep()

    @property
    def distinct(self) -> int:
        """How many different values this respondent has reported."""
        return len(self._memory)

    @property
    def spent(self) -> Fraction | float:
        """What all reports so far have lost of which values they are of: distinct values times `forever`.

        It bounds the loss against any other values that changed, and came back, at the same times. Reports of one value
        come from the same memoised bits: whoever compares them can see that a value changed, and when.
        """
        return self.protocol.law.forever * self.distinct

    def report(self, value: str, *, rng: np.random.Generator | None = None) -> RapporReports:
        """One report of the value: the memoised bits, drawn and saved if the value is new, through fresh noise."""
        source, group, text = generator(rng), np.array([self.cohort], np.int32), utf8(value).decode()
        if text not in self._memory:
            memoised = self.protocol.memoise(self.protocol.filters([text], group), rng=source)
            self._memory[text] = [int(word) for word in memoised[0]]
            self.seeded |= not is_strong(rng)
        self.reports += 1
        self._keep()
        kept, seeded = np.array([self._memory[text]], np.uint64), self.seeded or not is_strong(rng)
        return RapporReports(self.protocol, group, self.protocol.respond(kept, rng=source), seeded, self.reports)

    def save(self, path: Path | str) -> None:
        """Writes the state to a file on the respondent's device, which every later report keeps up to date."""
        self._path = Path(path)
        self._keep()

    def _keep(self) -> None:
        if self._path is None:
            return
        state = {"protocol": self.protocol.to_json(), "cohort": self.cohort, "seeded": self.seeded}
        replace_file(self._path, json.dumps(state | {"memory": self._memory, "reports": self.reports}))

    @classmethod
    def load(cls, path: Path | str) -> RapporClient:
        """The client whose state was saved."""
        try:
            state: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
            client = cls(_rappor(state["protocol"]), cohort=state["cohort"])
            client.seeded = checked_flag(state["seeded"])
            client.reports = whole(state.get("reports", 0), "reports", least=0)
            memory = {str(value): [int(word) for word in words] for value, words in state["memory"].items()}
        except (BruitError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadFile(
                f"{Path(path).name} holds no client state: it was cut, changed, or written by something else"
            ) from error
        width = -(-client.protocol.bits // 64)
        if any(len(words) != width or min(words) < 0 or max(words) >> 64 for words in memory.values()):
            raise BadFile(f"{Path(path).name} remembers bits of another size than its protocol has")
        client._memory.update(memory)
        client._path = Path(path)
        return client


def _rappor(block: dict[str, Any]) -> Rappor:
    protocol = protocol_from_json(block)
    if not isinstance(protocol, Rappor):
        raise InvalidArgument(f"{type(protocol).__name__} is not Rappor; its clients are of another kind")
    return protocol
