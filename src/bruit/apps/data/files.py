"""Finds the file of a public data set: in a folder you name, in the user's cache, or at its publisher."""

import hashlib
import os
import sys
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from bruit.errors import BadFile, MissingData

FOLDER = "BRUIT_DATA"
"""The environment variable that names a folder of data sets."""

SECONDS_TO_WAIT = 20


@dataclass(frozen=True)
class PublicFile:
    """A file of a data set: its path, its publisher's address, its mirrors and its allowed digests."""

    path: str
    address: str
    digests: tuple[str, ...]
    mirrors: tuple[str, ...] = ()


def find(file: PublicFile) -> Path:
    """The path of the file on this machine, downloaded if need be, with its digest checked."""
    here = place(file)
    return _download(file) if here is None else _check_digest(here, file)


def place(file: PublicFile) -> Path | None:
    """The path of the file if it is on this machine, else None; nothing is downloaded or checked."""
    folders = [Path(os.environ[FOLDER])] if os.environ.get(FOLDER) else []
    return next((folder / file.path for folder in (*folders, cache()) if (folder / file.path).is_file()), None)


def cache() -> Path:
    """The user's cache folder, for files that can be downloaded again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "bruit"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bruit"


def _check_digest(path: Path, file: PublicFile) -> Path:
    with path.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    if digest not in file.digests:
        raise BadFile(f"{path} is not the published {file.path}: remove it, so that it is fetched again")
    return path


def _download(file: PublicFile) -> Path:
    content = _content(file)
    path = cache() / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(path)  # in one step: nobody ever reads half a file
    return path


def _content(file: PublicFile) -> bytes:
    """The file from the first address that gives what was published."""
    changed = []
    for address in (file.address, *file.mirrors):
        try:
            with urlopen(address, timeout=SECONDS_TO_WAIT) as answer:
                content: bytes = answer.read()
        except (OSError, HTTPException):
            continue
        if hashlib.sha256(content).hexdigest() in file.digests:
            return content
        changed.append(address)
    if changed:
        raise BadFile(f"{changed[0]} does not give the {file.path} that was published; nothing was kept")
    raise MissingData(
        f"{file.path} is neither in the folder named by {FOLDER} nor in {cache()}, and {file.address} cannot be "
        f"reached: put the file into one of them"
    )
