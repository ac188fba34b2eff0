"""The web application: polls whose answers never leave the browser, and pages over everything that bruit computes.

`bruit.apps.web.application` needs the extra `web`; a client that answers a poll does not.
"""

from bruit.apps.web.client import NotDelivered, PollClient, Sealed
from bruit.apps.web.report_format import Wire

__all__ = ["NotDelivered", "PollClient", "Sealed", "Wire"]
