"""Describes in words what a release was about: columns, domains and limits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bruit.core.neighbours import EACH_ROW

MOST_CATEGORIES = 20
"""Categories that are written out; the JSON of the release has them all."""


def columns_of(release: dict[str, Any] | None) -> list[str]:
    """The names of the columns that a release is about; empty where it records none."""
    about = _about(release)
    if about is None or "words" in about:
        return []
    return [column["name"] for column in about["columns"] + about["by"]]


def describe_subject(release: dict[str, Any] | None) -> str | None:
    """One line on what a release asked: tables, columns, domains and limits; None where it records none."""
    about = _about(release)
    if about is None:
        return _registered(release)
    if "words" in about:
        versions = [f"{each['name']} version {each['version']}" for each in about["tables"] if each["version"]]
        return "; ".join([about["words"], *versions])
    parts = [", ".join(map(_column, about["columns"])), " and ".join(map(_column, about["by"]))]
    subject = " by ".join(part for part in parts if part) if parts[0] else parts[1] and f"by {parts[1]}"
    return "; ".join(part for part in (subject, _limits(about)) if part)


def _about(release: dict[str, Any] | None) -> dict[str, Any] | None:
    found = None if release is None else release.get("details", {}).get("asked")
    return found if isinstance(found, dict) else None


def _registered(release: dict[str, Any] | None) -> str | None:
    """The table and version that a note in the book is about."""
    noted = {} if release is None else release.get("details", {})
    return f"{noted['table']} version {noted['version']}" if {"table", "version"} <= set(noted) else None


def _column(column: dict[str, Any]) -> str:
    name, domain = column["name"], column["domain"]
    if domain is None:
        return f"{name} (values as found)"
    if domain["domain"] == "within":
        missing = "dropped" if domain["missing"] is None else f"read as {_number(domain['missing'])}"
        bounds = f"from {_number(domain['low'])} to {_number(domain['high'])} in steps of {_number(domain['grid'])}"
        return f"{name} ({bounds}, missing {missing})"
    return f"{name} (among {_first_few(domain['values'])}, others {'dropped' if domain['drop_others'] else 'as OTHER'})"


def _first_few(values: list[str]) -> str:
    more = len(values) - MOST_CATEGORIES
    return ", ".join(values[:MOST_CATEGORIES]) + (f" and {more} more" if more > 0 else "")


def _limits(about: dict[str, Any]) -> str:
    if about["person"] == EACH_ROW:
        return ""
    rows = f"at most {_count_of(about['rows'], 'row')} of each {about['person']}"
    return rows if about["groups"] is None else f"{rows} in each of at most {_count_of(about['groups'], 'group')}"


def _count_of(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _number(text: str) -> str:
    return f"{float(Fraction(text)):.15g}"
