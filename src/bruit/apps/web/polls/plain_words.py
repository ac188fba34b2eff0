"""Explains in plain words what a poll costs its respondents."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from markupsafe import Markup

from bruit.apps.web.languages import FALLBACK, Language, format_number, words
from bruit.apps.web.polls.question import PollQuestion
from bruit.apps.web.report_format import Wire
from bruit.core.numbers import exactly
from bruit.local import FrequencyProtocol, Rappor, ReportShape
from bruit.privacy import belief


def meaning(question: PollQuestion, language: Language = FALLBACK) -> list[str]:
    """Sentences on what ε means for one respondent, to be read before publishing."""
    once = exactly(question.epsilon, "epsilon")
    said = [_sentence("once", language, belief=_belief_sentence(once, language))]
    if question.forever is not None:
        always = exactly(question.forever, "forever")
        said.append(_sentence("always", language, belief=_belief_sentence(always, language)))
        said.append(_sentence("changed", language))
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
    protocol = wire.protocol
    assert protocol.offer is not None
    if isinstance(protocol, Rappor):
        return _sentence("cohort", language, table="noise", bits=str(protocol.bits))
    if not isinstance(protocol, FrequencyProtocol):
        return _sentence("number", language, table="noise")
    if protocol.offer.report is ReportShape.BITS:
        return _sentence("bits", language, table="noise")
    kept = format_number(100 * float(np.mean(protocol.support.true)), ".0f", language)
    return _sentence("place", language, table="noise", kept=kept)


def _sentence(name: str, language: Language, *, table: str = "plain", **values: str) -> str:
    found = words(f"polls/{table}", language)[name]
    assert isinstance(found, Markup)
    return found.format(**values)
