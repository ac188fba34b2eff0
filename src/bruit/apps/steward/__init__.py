"""What the steward of a table asks of it, for the command line and the workbench alike."""

from bruit.apps.steward.code import python_of
from bruit.apps.steward.preview import left_in, preview
from bruit.apps.steward.question import NAMED, SIZES, STATISTICS, Question, limited, opened, price_of
from bruit.apps.steward.risk_sections import Section, sections

__all__ = [
    "NAMED",
    "SIZES",
    "STATISTICS",
    "Question",
    "Section",
    "left_in",
    "limited",
    "opened",
    "preview",
    "price_of",
    "python_of",
    "sections",
]
