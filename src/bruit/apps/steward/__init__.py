"""Questions that the steward of a table asks, shared by the command line and the workbench."""

from bruit.apps.steward.previews import preview, remaining_of
from bruit.apps.steward.question import NAMED, SIZES, FileStatistic, limit_table, open_table, price_of
from bruit.apps.steward.risk_sections import Section, sections

__all__ = [
    "NAMED",
    "SIZES",
    "FileStatistic",
    "Section",
    "limit_table",
    "open_table",
    "preview",
    "price_of",
    "remaining_of",
    "sections",
]
