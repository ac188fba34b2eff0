"""The examples below a command's help, whole enough to be copied into a shell."""

import shlex
from shutil import get_terminal_size

from rich.text import Text

WIDEST = 76
"""Letters of a line, at most; a narrow terminal has fewer, and breaks no line of them anew."""

EDGE = 4
"""Letters that the help leaves free on both sides together."""


def examples(*lines: str, title: str = "For example:") -> Text:
    """Each command on lines of its own, continued as a shell continues them; what stands behind # is a remark."""
    width = min(WIDEST, get_terminal_size().columns - EDGE)
    return Text("\n".join([title, *("  " + row for line in lines for row in _rows(line, width))]))


def _rows(line: str, width: int) -> list[str]:
    """A command in rows of at most `width` letters, where no quoted word is longer."""
    if "#" in line or len(f"  {line}") <= width:
        return [line]
    first, *parts = _parts(shlex.split(line, posix=False))
    rows = [first]
    for part in parts:
        if len(f"  {rows[-1]} {part} \\") > width:
            rows[-1] += " \\"
            rows.append(f"    {part}")
        else:
            rows[-1] += f" {part}"
    return rows


def _parts(words: list[str]) -> list[str]:
    """The words of a command, each option together with its values."""
    parts: list[str] = []
    for word in words:
        if parts and parts[-1].startswith("-") and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    return parts
