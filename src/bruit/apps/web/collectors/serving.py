"""The first collector as a part of the web application."""

from pathlib import Path
from typing import Final

from bruit.apps.web.collectors import api, pages
from bruit.apps.web.collectors.first import collecting
from bruit.apps.web.part import Part

LARGEST: Final = 32 * 2**20
"""Bytes of a message of the second collector: the nonces of two million reports."""

part = Part(
    name="collectors",
    router=pages.router,
    others=(api.router,),
    folder=Path(__file__).parent,
    body_limit=LARGEST,
    running=collecting,
)
