"""What was agreed when a stream was opened, as it is kept in its store."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from bruit.continual.plan import StreamPlan, plan_from_json
from bruit.continual.questions import StreamQuestion, question_from_json


@dataclass(frozen=True)
class StreamTerms:
    """A question, the plan that was paid for, and the total from which on a found key shows (None: keys are listed)."""

    question: StreamQuestion
    asked: dict[str, Any]
    plan: StreamPlan
    keys_delta: Fraction
    threshold: int | None
    seeded: bool

    def to_json(self) -> str:
        """A complete description."""
        return json.dumps(
            {
                "question": self.question.to_json(),
                "asked": self.asked,
                "plan": self.plan.to_json(),
                "keys_delta": str(self.keys_delta),
                "threshold": self.threshold,
                "seeded": self.seeded,
            },
            ensure_ascii=False,
        )

    def agrees_with(self, question: StreamQuestion, asked: dict[str, Any]) -> bool:
        """Whether a stream was opened with the same words."""
        return self.question == question and self.asked == asked


@lru_cache(maxsize=64)
def terms_from_json(text: str) -> StreamTerms:
    """The terms that `to_json` described; the same text, read in every transaction, is parsed once."""
    description = json.loads(text)
    return StreamTerms(
        question=question_from_json(description["question"]),
        asked=description["asked"],
        plan=plan_from_json(description["plan"]),
        keys_delta=Fraction(description["keys_delta"]),
        threshold=description["threshold"],
        seeded=description["seeded"],
    )
