"""The web application: polls whose answers never leave the browser, and pages over everything that bruit computes."""

from bruit.apps.web.application import application
from bruit.apps.web.part import Part
from bruit.apps.web.settings import Settings

__all__ = ["Part", "Settings", "application"]
