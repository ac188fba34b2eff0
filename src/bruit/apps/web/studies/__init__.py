"""Pages of the studies that were run, with their figures, tables and paragraphs."""

from pathlib import Path

from bruit.apps.web.part import Part
from bruit.apps.web.studies.pages import router
from bruit.apps.web.studies.runs import running

part = Part(
    name="studies",
    router=router,
    folder=Path(__file__).parent,
    running=running,
)

__all__ = ["part"]
