"""Where the files of public data sets are, without bruit: peers read them too."""

from __future__ import annotations

import os
from pathlib import Path


def public_file(path: str) -> Path:
    """A file such as adult/adult.data: in the folder that BRUIT_DATA names, else where `bruit data fetch` puts it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bruit"
    folders = [Path(folder) for folder in (os.environ.get("BRUIT_DATA"), cache) if folder]
    found = next((folder / path for folder in folders if (folder / path).is_file()), None)
    if found is None:
        name = path.partition("/")[0]
        raise FileNotFoundError(f"{path} is not here: bruit data fetch {name}, or name its folder with BRUIT_DATA")
    return found
