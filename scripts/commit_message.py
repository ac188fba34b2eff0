"""Refuses a commit message without a short subject or without a body: `python scripts/commit_message.py FILE`."""

import sys
from pathlib import Path

LONGEST_SUBJECT = 60


def complaints(message: str) -> list[str]:
    """What is missing in a commit message, a sentence each."""
    lines = [line.rstrip() for line in message.splitlines() if not line.startswith("#")]
    while lines and not lines[0]:
        lines.pop(0)
    subject, rest = (lines[0], lines[1:]) if lines else ("", [])
    found = []
    if not 0 < len(subject) <= LONGEST_SUBJECT:
        found.append(f"the subject has {len(subject)} characters; give 1 to {LONGEST_SUBJECT}")
    if ";" in subject:
        found.append("the subject holds two ideas: make two commits")
    if not any(rest) or rest[0]:
        found.append("after a blank line, say in the body why the change is made")
    return found


if __name__ == "__main__":
    told = complaints(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.exit("\n".join(told) if told else 0)
