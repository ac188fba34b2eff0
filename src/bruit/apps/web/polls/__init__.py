"""Polls: each answer is noised in the browser of whoever gives it, and only the noised report is sent."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from bruit.apps.web.part import Part
from bruit.apps.web.polls import api, pages
from bruit.apps.web.polls.collector import Collector
from bruit.apps.web.polls.sending import ReportDoor


@asynccontextmanager
async def collecting(app: FastAPI) -> AsyncIterator[None]:
    """Keeps the collector at work."""
    app.state.collector = collector = Collector(app.state.settings.database)
    app.state.ending.append(collector.end_streams)
    await collector.start()
    yield
    await collector.stop()


part = Part(
    name="polls",
    title="Polls",
    line="Ask a class or a team a question whose true answers never leave their browsers.",
    router=pages.router,
    others=(api.router, pages.short),
    doors=(ReportDoor,),
    folder=Path(__file__).parent,
    running=collecting,
)
