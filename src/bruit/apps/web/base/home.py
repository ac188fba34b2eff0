"""What the start page shows: a poll to try in the page, and example charts made by bruit's own mechanisms."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import polars
from markupsafe import Markup
from numpy.typing import NDArray

from bruit.apps.languages import Language, format_number
from bruit.apps.steward.charts import Bars, svg_on_page
from bruit.apps.web.languages import Words, words
from bruit.apps.web.polls.plain_words import noise_view
from bruit.apps.web.polls.question import PollQuestion, protocol
from bruit.apps.web.report_format import Wire
from bruit.central import histogram
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.ledger import Ledger
from bruit.privacy import belief
from bruit.tables import read

CROWD: Final = 1000
"""Made-up people of the poll to try."""
TRIED: Final = ("0.5", "1", "2", "4")
"""The ε that the poll to try offers."""
BELIEVED: Final = ("0.1", "0.5", "1", "2", "4")
"""The ε of the chart of beliefs."""
STAYS: Final = {"cardiology": 412, "surgery": 655, "maternity": 198, "emergency": 871, "paediatrics": 84}
"""A made-up table: stays in each ward of a hospital that does not exist."""
CONFIDENCE: Final = 0.95
NARROW: Final = 440
"""Pixels of a chart that stands beside another, or on a phone."""


@cache
def polls_to_try(language: Language) -> list[dict[str, object]]:
    """The same yes-or-no poll at several ε, as the script of the page needs it."""
    asked = [PollQuestion(kind="yes-no", question="?", epsilon=each, forever=None, results="admin") for each in TRIED]
    return [
        {"epsilon": format_number(float(one.epsilon), "g", language)}
        | noise_view(one, Wire(protocol(one)), CROWD, language)
        for one in asked
    ]


@cache
def example_charts(language: Language) -> list[Markup]:
    """A private release of a made-up table, and what ε means to one person, as SVG."""
    say = words("base/home", language)
    return [Markup(svg_on_page(each, width=NARROW)) for each in (_stays(say, language), _beliefs(say, language))]


@cache
def _released() -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Noisy counts of the made-up table at ε = 0.2 with their intervals; drawn once for all visitors."""
    wards = [ward for ward, stays in STAYS.items() for _ in range(stays)]
    table = read(polars.DataFrame({"ward": wards}), person=EACH_ROW)
    book = Ledger("made-up hospital", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    release = histogram(table["ward"].among(list(STAYS)), budget=book.budget(epsilon="0.2"), confidence=CONFIDENCE)
    assert release.interval is not None
    return release.value, release.interval.low, release.interval.high


def _stays(say: Words, language: Language) -> Bars:
    values, low, high = (np.asarray(each, np.float64).ravel()[: len(STAYS)] for each in _released())
    labels = [str(say[ward]) for ward in STAYS]
    return Bars(str(say["stays"]), labels, values, low, high, str(say["stays_note"]), language)


def _beliefs(say: Words, language: Language) -> Bars:
    """How sure somebody can become of what they thought as likely as not, in percent."""
    after = np.array([100 * belief(0.5, epsilon).high for epsilon in BELIEVED])
    labels = [f"ε = {format_number(float(epsilon), 'g', language)}" for epsilon in BELIEVED]
    return Bars(str(say["beliefs"]), labels, after.round(1), after, after, str(say["beliefs_note"]), language)
