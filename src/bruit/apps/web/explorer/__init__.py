"""The budget explorer: interactive figures of ε against its parameters, of its meaning and of accuracy."""

from pathlib import Path

from bruit.apps.web.explorer.pages import router
from bruit.apps.web.part import Part

part = Part(
    name="explorer",
    title="Budget explorer",
    line="See what ε costs, what it means to one person, and what noise does to an answer, before anything is spent.",
    router=router,
    folder=Path(__file__).parent,
)

__all__ = ["part"]
