"""Polls: each answer is noised in the browser of whoever gives it, and only the noised report is sent."""

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import Response

from bruit.apps.web.part import Part
from bruit.apps.web.rendering import page

router = APIRouter(include_in_schema=False)


@router.get("")
async def start(request: Request) -> Response:
    """The start page of the polls."""
    return page(request, "polls/start.html")


part = Part(
    name="polls",
    title="Polls",
    line="Ask a class or a team a question whose true answers never leave their browsers.",
    router=router,
    folder=Path(__file__).parent,
)
