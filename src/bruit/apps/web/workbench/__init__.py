"""The steward's workbench: from a table to a paid release, with nothing private guessed."""

from pathlib import Path

from bruit.apps.web.part import Part
from bruit.apps.web.workbench import book_pages, table_pages
from bruit.apps.web.workbench.room import router, running
from bruit.apps.web.workbench.shelf import LARGEST

part = Part(
    name="workbench",
    title="Workbench",
    line="For the steward of a table: see what it gives away, preview an error, spend from a book, publish a release.",
    router=router,
    folder=Path(__file__).parent,
    steward=True,
    body_limit=LARGEST,
    running=running,
)

__all__ = ["book_pages", "part", "table_pages"]
