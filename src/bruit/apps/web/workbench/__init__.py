"""The steward's workbench: from an uploaded table to a paid release, with nothing private guessed."""

from pathlib import Path

from bruit.apps.web.part import Part
from bruit.apps.web.workbench import ask_pages, book_pages, synthesis_pages, synthetic_pages, table_pages
from bruit.apps.web.workbench.context import router, running
from bruit.apps.web.workbench.uploads import LARGEST

part = Part(
    name="workbench",
    router=router,
    folder=Path(__file__).parent,
    steward=True,
    body_limit=LARGEST,
    running=running,
)

__all__ = ["ask_pages", "book_pages", "part", "synthesis_pages", "synthetic_pages", "table_pages"]
