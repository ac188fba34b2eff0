"""Settings shared by every test."""

import os
from pathlib import Path

from hypothesis import settings

settings.register_profile("gate", deadline=None, derandomize=True)
settings.load_profile("gate")

beside = Path(__file__).parents[2] / "shared" / "data"
if beside.is_dir():
    os.environ.setdefault("BRUIT_DATA", str(beside))
