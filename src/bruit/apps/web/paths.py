"""The folder in which the application keeps files: that of its SQLite file, or the working directory."""

from __future__ import annotations

from pathlib import Path

from bruit.apps.web.settings import Settings

STUDIES = "bruit-studies"
"""Where `bruit study` writes."""

RELEASES = "bruit-releases"
"""Where the Python of each release is kept."""


def home(settings: Settings) -> Path:
    """The folder of the SQLite file; with another database, the working directory."""
    scheme, _, path = settings.database.partition(":///")
    return Path(path).parent if scheme.startswith("sqlite") and path else Path()
