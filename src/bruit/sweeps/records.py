"""The file of a sweep: one line of JSON for its terms, then one for each finished repeat.

Lines are only ever appended. A line cut short by a kill has no end of line: it is dropped when the file is opened again
and its repeat is run again.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from bruit.errors import BadFile, InvalidArgument
from bruit.randomness import words
from bruit.sweeps.points import Point, Value

KIND = "bruit sweep 1"
OPENING = b'{"kind": "bruit sweep'
ROOT_WORDS = 4
"""How many words of 64 bits the root of all streams has."""

Key = tuple[int, int]
"""The number of a point in its grid, and of a repeat."""

Row = dict[str, Value]
"""What the function said of one repeat."""


class Records:
    """The finished repeats of a sweep, in memory and, where a path is given, in its file."""

    def __init__(
        self, path: Path | None, *, function: str, points: Sequence[Point], root: Sequence[int] | None
    ) -> None:
        self.rows: dict[Key, Row] = {}
        self._terms: dict[str, Any] = {"kind": KIND, "function": function, "points": list(points)}
        self._file = None if path is None else path.open("a+b")
        try:
            begun = None if path is None or self._file is None else self._resume(path, self._file)
            if begun is not None and root is not None and list(begun) != list(root):
                raise InvalidArgument(
                    "rng: the file was begun from another stream; "
                    "give rng=None or the same rng to resume it, or give another file"
                )
            self.root = begun or root or words(None, ROOT_WORDS).tolist()
            if begun is None:
                self._append([{**self._terms, "root": list(self.root)}])
        except BaseException:
            self.__exit__()
            raise

    def add(self, finished: Mapping[Key, Row]) -> None:
        """Keeps finished repeats; they are on the disk when this returns."""
        self.rows |= finished
        self._append({"point": point, "repeat": repeat, "row": row} for (point, repeat), row in finished.items())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        if self._file is not None:
            self._file.close()

    def _resume(self, path: Path, file: IO[bytes]) -> Sequence[int] | None:
        """Reads what stands in the file, drops a last line cut short, and returns the seed the sweep began with."""
        _lock(file, path)
        file.seek(0)
        text = file.read()
        if not text.startswith(OPENING) and not OPENING.startswith(text):
            raise BadFile(f"{path} is not the file of a sweep; give another name")
        whole = text.rfind(b"\n") + 1
        file.truncate(whole)
        return self._read_root(path, text[:whole].splitlines())

    def _read_root(self, path: Path, lines: Sequence[bytes]) -> Sequence[int] | None:
        try:
            described = [json.loads(line) for line in lines]
            for entry in described[1:]:
                self.rows[entry["point"], entry["repeat"]] = entry["row"]
        except (ValueError, KeyError, TypeError) as error:
            raise BadFile(f"{path} is damaged before its last line; remove it and run the sweep again") from error
        if not described:
            return None
        self._check(path, described[0])
        root: Sequence[int] = described[0]["root"]
        return root

    def _check(self, path: Path, terms: Mapping[str, Any]) -> None:
        for name, meaning in (("kind", "format"), ("function", "function"), ("points", "grid")):
            if terms.get(name) != self._terms[name]:
                raise BadFile(f"{path} holds a sweep of another {meaning}; give another file, or the same {meaning}")

    def _append(self, entries: Iterable[Mapping[str, Any]]) -> None:
        if self._file is not None:
            self._file.write(b"".join(json.dumps(entry).encode() + b"\n" for entry in entries))
            self._file.flush()
            os.fsync(self._file.fileno())


def _lock(file: IO[bytes], path: Path) -> None:
    """Keeps a second sweep out of the file; the lock ends with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise BadFile(f"{path} is being written by another sweep; wait for it, or give another file") from error
