"""The budget explorer: interactive figures of ε against its parameters, of its meaning and of accuracy."""

from pathlib import Path

from bruit.apps.web.explorer.pages import router
from bruit.apps.web.part import Part

part = Part(
    name="explorer",
    router=router,
    folder=Path(__file__).parent,
)

__all__ = ["part"]
