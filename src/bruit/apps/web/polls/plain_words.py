"""Explains in plain words what a poll costs its respondents."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from markupsafe import Markup

from bruit.apps.languages import FALLBACK, Language, format_number
from bruit.apps.web.languages import words
from bruit.apps.web.polls.question import PollQuestion
from bruit.apps.web.polls.results import error_at
from bruit.apps.web.report_format import Wire
from bruit.core.numbers import exactly
from bruit.local import FrequencyProtocol, LocalProtocol, OneBitMean
from bruit.privacy import belief


def meaning(question: PollQuestion, language: Language = FALLBACK) -> list[str]:
    """Sentences on what ε means for one respondent, to be read before publishing."""
    once = exactly(question.epsilon, "epsilon")
    said = [_sentence("once", language, belief=_belief_sentence(once, language))]
    if question.forever is not None:
        always = exactly(question.forever, "forever")
        said.append(_sentence("always", language, belief=_belief_sentence(always, language)))
        said.append(_sentence("changed", language))
    if question.kind == "open":
        said.append(_sentence("one_round", language, rounds=str(question.rounds)))
    said.append(_sentence("deniable", language, ratio=format_number(math.exp(once), ".3g", language)))
    return said


def _belief_sentence(epsilon: Fraction, language: Language) -> str:
    after = format_number(belief(0.5, epsilon).high, ".1%", language)
    return _sentence("belief", language, after=after, epsilon=format_number(float(epsilon), "g", language))


def one_device(language: Language = FALLBACK) -> str:
    """What “one device, one vote” protects and what it does not."""
    return _sentence("one_device", language)


def noise(wire: Wire, language: Language = FALLBACK) -> str:
    """A sentence on how often the noise changes an answer, from the exact integer weights of the law."""
    if wire.cohorts:
        return _sentence("cohort", language, table="noise", bits=str(wire.size))
    if wire.is_bits:
        return _sentence("bits", language, table="noise")
    if isinstance(wire.protocol, OneBitMean):
        return _sentence("number", language, table="noise")
    kept = format_number(100 * _law(wire.protocol)[0], ".0f", language)
    return _sentence("place", language, table="noise", kept=kept)


MOST_SHOWN: Final = 1000
"""Made-up people that a picture of the noise has dots for."""


def noise_view(question: PollQuestion, wire: Wire, people: int, language: Language = FALLBACK) -> dict[str, object]:
    """What the script `noise.js` needs to show the noise at work on made-up people: the law, and the ± at their number.

    A report of bits has no `law` of single answers: the script shows one person's bits.
    """
    protocol, shown = wire.protocol, min(people, MOST_SHOWN)
    say = words("polls/noise_view", language)
    view: dict[str, object] = {"protocol": protocol.to_json(), "people": shown, "say": say, "choices": question.choices}
    searched = protocol if question.kind == "open" and isinstance(protocol, FrequencyProtocol) else None
    if searched is not None:
        view["choices"] = searched.categories.labels
    if wire.is_bits:
        return view
    kept, other = _law(protocol)
    labels = [say["no"], say["yes"]] if question.kind == "yes-no" else view["choices"]
    error = error_at(question, wire, shown) if searched is None else searched.expected_error(shown)
    return view | {"law": {"true": kept, "false": other}, "error": error, "labels": labels}


def _law(protocol: LocalProtocol) -> tuple[float, float]:
    """How often the true answer is sent, and how often another one stands for it."""
    if isinstance(protocol, FrequencyProtocol):
        return float(np.mean(protocol.support.true)), float(np.mean(protocol.support.false))
    assert isinstance(protocol, OneBitMean)
    kept, other = protocol.channel.probabilities()[0]
    return float(kept), float(other)


def _sentence(name: str, language: Language, *, table: str = "plain", **values: str) -> str:
    found = words(f"polls/{table}", language)[name]
    assert isinstance(found, Markup)
    return found.format(**values)
