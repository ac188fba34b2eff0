"""Pages of streams: statistics published every period, with interval bands, updated live."""

from pathlib import Path

from bruit.apps.web.part import Part
from bruit.apps.web.streams.following import running
from bruit.apps.web.streams.pages import router

part = Part(
    name="streams",
    router=router,
    folder=Path(__file__).parent,
    steward=True,
    running=running,
)

__all__ = ["part"]
