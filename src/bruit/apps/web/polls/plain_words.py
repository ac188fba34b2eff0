"""What a poll costs its respondents, in plain words."""

from __future__ import annotations

import math
from fractions import Fraction

from bruit.apps.web.polls.question import Question
from bruit.apps.web.wire import Wire
from bruit.local import KRR, OUE, LongitudinalKRR, OneBitMean, Rappor, Warner
from bruit.local.longitudinal import LongitudinalOUE
from bruit.privacy import belief, exactly


def meaning(question: Question) -> list[str]:
    """What ε means for one respondent: sentences to read before publishing."""
    once = exactly(question.epsilon, "epsilon")
    said = [f"One report: {_believed(once)}"]
    if question.forever is not None:
        always = exactly(question.forever, "forever")
        said.append(f"All reports of one same answer, however many rounds are asked: {_believed(always)}")
        said.append(
            "Each different answer given over the rounds is protected anew, so changing one’s mind costs again."
        )
    said.append(_deniable(once))
    return said


def _believed(epsilon: Fraction) -> str:
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
    """How often the noise changes an answer, from the very integers of the law."""
    law = wire.protocol
    if isinstance(law, Warner | KRR):
        return f"Out of 100 people, about {100 * _kept(law):.0f} send their true answer; the others send another."
    if isinstance(law, OneBitMean):
        return "Each person sends a single 0 or 1; the larger the number, the more often a 1."
    if isinstance(law, Rappor):
        return "Each person sends 128 bits, nearly all of them coin flips; which text set one of them cannot be told."
    if isinstance(law, LongitudinalKRR):
        true = float(law.support.true)
        return f"Out of 100 reports, about {100 * true:.0f} say the true answer; the others another."
    assert isinstance(law, OUE | LongitudinalOUE)
    return "Each person sends a yes or no for every choice, each of them changed by chance."


def _kept(law: Warner | KRR) -> float:
    return float(law.channel.probabilities()[0, 0])


ONE_DEVICE = (
    "One device answers once in a round: this browser remembers that it has answered, and a reload or a second tap "
    "sends the same report again, which is counted once. That stops accidents. It does not stop somebody who clears "
    "the browser, takes a private window or a second device, nor a program that sends as many reports as it likes, "
    "because nobody is asked who they are."
)
"""What “one device, one vote” protects and what it does not."""
