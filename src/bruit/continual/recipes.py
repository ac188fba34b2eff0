"""Reads the definition of a stream from a file, for a job that opens it and publishes every period."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bruit.central.questions import Question
from bruit.continual.engine_questions import engine_question, require_table
from bruit.continual.folders import read_files
from bruit.continual.opening import Goal
from bruit.continual.participation import Participation
from bruit.continual.published import CONFIDENCE
from bruit.continual.questions import StreamQuestion, check_table, question_from_json
from bruit.continual.stream import Stream
from bruit.core import Release
from bruit.core.numbers import Exact
from bruit.core.toml import read_toml
from bruit.errors import BadFile, InvalidArgument
from bruit.ledger import Ledger
from bruit.tables import Table

NAMES = frozenset({"name", "question", "participation", "periods", "epsilon", "delta", "aim"})


@dataclass(frozen=True)
class StreamRecipe:
    """The complete definition of a stream (name, question, participation, price), without its ledger.

    `periods` is None where nobody knows the end; ε and δ pay for the whole stream when it is opened.
    """

    name: str
    question: StreamQuestion | Question
    participation: Participation
    periods: int | None
    epsilon: Exact
    delta: Exact
    aim: Goal = "max"

    @classmethod
    def from_json(cls, description: Mapping[str, Any]) -> StreamRecipe:
        """Reads a recipe from a mapping: name, question, participation, periods, epsilon, delta, perhaps aim.

        A question is stated as `StreamQuestion.to_json` writes it; `periods` may be "unknown".
        """
        missing, unknown = NAMES - {"aim"} - set(description), set(description) - NAMES
        if missing or unknown:
            raise InvalidArgument(
                f"a stream is stated by {', '.join(sorted(NAMES))}; "
                f"missing: {', '.join(sorted(missing)) or 'none'}, unknown: {', '.join(sorted(unknown)) or 'none'}"
            )
        values = dict(description)
        try:
            question = question_from_json(values.pop("question"))
            participation = Participation(**values.pop("participation"))
        except (KeyError, TypeError) as error:
            raise InvalidArgument(f"a stream's question or participation is not complete: {error}") from error
        periods = None if values["periods"] == "unknown" else values["periods"]
        return cls(**{**values, "question": question, "participation": participation, "periods": periods})

    @classmethod
    def from_toml(cls, text: str) -> StreamRecipe:
        """Reads a recipe from the table [stream] of a TOML text; numbers keep every digit."""
        try:
            stated = read_toml(text, parse_float=str).get("stream")
        except tomllib.TOMLDecodeError as error:
            raise BadFile(f"the recipe is no TOML: {error}") from None
        if not isinstance(stated, dict):
            raise InvalidArgument("the recipe has no table [stream]")
        return cls.from_json(stated)

    def open(self, ledger: Ledger) -> Stream:
        """Opens the stream in a ledger; the first time it is created and paid for."""
        return Stream(
            self.name,
            self.question,
            participation=self.participation,
            periods=self.periods,
            budget=ledger.budget(epsilon=self.epsilon, delta=self.delta),
            aim=self.aim,
        )

    def check_folder(self, folder: str | Path, person: str) -> None:
        """Refuses, before the stream is paid for, a folder without files or with columns that it cannot read."""
        kept = engine_question(self.question) if isinstance(self.question, Question) else self.question
        check_table(kept, require_table(read_files(folder, (), person), kept), person)

    def publish(
        self,
        ledger: Ledger,
        data: Table | Question | str | Path,
        *,
        source: str | None = None,
        confidence: float = CONFIDENCE,
    ) -> Release[Any]:
        """Publishes one period from a table, or from the new files of a folder; once for each `source`.

        A job names what it does, such as "2026-03": whoever runs it again gets what was published.
        """
        if isinstance(data, str | Path):
            self.check_folder(data, ledger.person)
            return self.open(ledger).update_from(data, source=source, confidence=confidence)
        return self.open(ledger).update(data, source=source, confidence=confidence)
