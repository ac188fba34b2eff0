"""Explains in plain words what a poll costs its respondents."""

from __future__ import annotations

import math
from fractions import Fraction

from bruit.apps.web.polls.question import PollQuestion
from bruit.apps.web.report_format import Wire
from bruit.core.numbers import exactly
from bruit.privacy import belief


def meaning(question: PollQuestion) -> list[str]:
    """Sentences on what ε means for one respondent, to be read before publishing."""
    once = exactly(question.epsilon, "epsilon")
    said = [f"One report: {_belief_sentence(once)}"]
    if question.forever is not None:
        always = exactly(question.forever, "forever")
        said.append(f"All reports of one same answer, however many rounds are asked: {_belief_sentence(always)}")
        said.append(
            "Each different answer given over the rounds is protected anew, so changing one’s mind costs again."
        )
    said.append(_deniable(once))
    return said


def _belief_sentence(epsilon: Fraction) -> str:
    after = belief(0.5, epsilon).high
    return (
        f"somebody who thought an answer as likely as not, and sees what was sent, can be at most {after:.1%} sure "
        f"of it afterwards (ε = {float(epsilon):g})."
    )


def _deniable(epsilon: Fraction) -> str:
    ratio = math.exp(epsilon)
    return (
        f"Whatever is sent could have come from any other answer too, at most {ratio:.3g} times less often: "
        "nobody’s report proves anything, to anyone, ever."
    )


def noise(wire: Wire) -> str:
    """A sentence on how often the noise changes an answer, from the exact integer weights of the law."""
    offer = wire.protocol.offer
    assert offer is not None
    assert offer.plain_words is not None
    return offer.plain_words(wire.protocol)


ONE_DEVICE = (
    "One device answers once in a round: this browser remembers that it has answered, and a reload or a second tap "
    "sends the same report again, which is counted once. That stops accidents. It does not stop somebody who clears "
    "the browser, takes a private window or a second device, nor a program that sends as many reports as it likes, "
    "because nobody is asked who they are."
)
"""What “one device, one vote” protects and what it does not."""
