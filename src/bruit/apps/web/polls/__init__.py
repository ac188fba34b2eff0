"""Polls: each answer is randomised in the respondent's browser, and only the noisy report is sent."""

from pathlib import Path

from bruit.apps.web.admission import routes as admission
from bruit.apps.web.part import Part
from bruit.apps.web.polls import api, pages
from bruit.apps.web.polls.collector import collecting
from bruit.apps.web.polls.report_endpoint import ReportMiddleware

part = Part(
    name="polls",
    router=pages.router,
    others=(api.router, admission.router, pages.short),
    middleware=(ReportMiddleware,),
    folder=Path(__file__).parent,
    running=collecting,
)

__all__ = ["part"]
