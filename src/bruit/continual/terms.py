"""The terms that a stream was opened on, as stored."""

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
    """A question, the plan that was paid for, and the threshold of found keys (None: keys are declared)."""

    question: StreamQuestion
    asked: dict[str, Any]
    plan: StreamPlan
    keys_delta: Fraction
    threshold: int | None
    seeded: bool

    def to_json(self) -> str:
        """A complete description as JSON text."""
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
        """Whether the stream was opened with the same question and arguments."""
        return self.question == question and self.asked == asked


@lru_cache(maxsize=64)
def terms_from_json(text: str) -> StreamTerms:
    """Rebuilds terms from the text that `StreamTerms.to_json` wrote, with a cache."""
    description = json.loads(text)
    return StreamTerms(
        question=question_from_json(description["question"]),
        asked=description["asked"],
        plan=plan_from_json(description["plan"]),
        keys_delta=Fraction(description["keys_delta"]),
        threshold=description["threshold"],
        seeded=description["seeded"],
    )
