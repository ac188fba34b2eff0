"""The examples below a command's help, whole enough to be copied into a shell."""

import shlex

from rich.text import Text

WIDTH = 76
"""Letters of a line, so that it stands unbroken in a terminal of 80 columns."""


def examples(*lines: str, title: str = "For example:") -> Text:
    """Each command on lines of its own, continued as a shell continues them; what begins with # is a remark."""
    return Text("\n".join([title, *("  " + row for line in lines for row in _rows(line))]))


def _rows(line: str) -> list[str]:
    """A command in rows of at most `WIDTH` letters, where no quoted word is longer."""
    if len(f"  {line}") <= WIDTH:
        return [line]
    first, *parts = _parts(shlex.split(line, posix=False))
    rows = [first]
    for part in parts:
        if len(f"  {rows[-1]} {part} \\") > WIDTH:
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
