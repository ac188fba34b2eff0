"""The web application: polls whose true answers never leave the browser, and pages for bruit's other tools.

`bruit.apps.web.application` needs the extra `web`; a client that answers a poll does not.
"""

from bruit.apps.web.client import NotDelivered, PollClient, Sealed
from bruit.apps.web.report_format import Wire

__all__ = ["NotDelivered", "PollClient", "Sealed", "Wire"]
