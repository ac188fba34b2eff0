"""Saves a study's findings beside its files, and reads them back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bruit.apps.findings import Findings, Size

FILE = "findings.json"


@dataclass(frozen=True)
class Kept:
    """Saved findings of a study, with the size it ran at and the time."""

    findings: Findings
    size: Size
    when: datetime


def keep(findings: Findings, folder: Path, *, size: Size) -> None:
    """Writes the findings into the study's folder, with relative paths, so that the folder may be moved."""
    names = [path.relative_to(folder).as_posix() for path in findings.files if path.is_relative_to(folder)]
    described = {"summary": findings.summary, "files": names, "figures": findings.figures, "size": size}
    described |= {"data": findings.data} if findings.data else {}
    folder.mkdir(parents=True, exist_ok=True)
    told = {**described, "when": datetime.now(UTC).isoformat(timespec="seconds")}
    (folder / FILE).write_text(json.dumps(told, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def read_findings(folder: Path) -> Kept | None:
    """Reads the findings in a study's folder; None where it was not run or its file is incomplete."""
    try:
        told = json.loads((folder / FILE).read_text(encoding="utf-8"))
        files = tuple(folder / name for name in told["files"] if (folder / name).is_file())
        findings = Findings(told["summary"], files, told["figures"], told.get("data", ""))
        return Kept(findings, told["size"], datetime.fromisoformat(told["when"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
