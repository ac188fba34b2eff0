"""The tables of the `bruit risk` report, for a terminal or a page."""

from __future__ import annotations

from collections.abc import Sequence

from bruit.anonymity import Report

Section = tuple[str, Sequence[str], list[tuple[object, ...]]]


def sections(found: Report) -> list[Section]:
    """The tables of the report, each as title, column heads and rows."""
    return [
        one for one in (_identifiers(found), _singling(found), _people(found), _secrets(found), _plan(found)) if one[2]
    ]


def _identifiers(found: Report) -> Section:
    rows: list[tuple[object, ...]] = [
        (one.column, one.kind, f"{one.share:.1%}", f"{one.chance:.3g}", f"{one.p_value:.1g}")
        for one in found.scan.identifiers
    ]
    return "Direct identifiers", ("column", "kind", "values", "by chance", "p-value"), rows


def _singling(found: Report) -> Section:
    rows: list[tuple[object, ...]] = [
        (", ".join(one.columns), one.uniques, f"{one.share:.1%}") for one in found.scan.singling
    ]
    return "The fewest columns that single out most rows", ("columns", "rows alone", "share"), rows


def _people(found: Report) -> Section:
    risk = found.risk
    link = risk.linkage
    chosen = "named" if found.quasi_were_given else "assumed"
    rows: list[tuple[object, ...]] = [
        (f"quasi-identifiers ({chosen})", ", ".join(risk.quasi)),
        ("rows, groups", f"{risk.rows}, {risk.groups}"),
        ("k, the smallest group", f"{risk.k}"),
        ("rows alone", f"{risk.uniques} ({risk.uniques / risk.rows:.1%})"),
        ("found by an attacker who knows a sample", f"{link.right} of {link.known} ({link.expected:.1%} expected)"),
    ]
    return "Finding people", ("what", "figure"), rows


def _secrets(found: Report) -> Section:
    rows: list[tuple[object, ...]] = [
        (
            one.column,
            one.kind,
            one.l,
            one.entropy_l,
            one.t,
            f"{one.certain / found.risk.rows:.1%}",
            f"{one.ruled_out:.1%}",
            f"{one.guessed:.1%} ({one.guessed_blindly:.1%})",
        )
        for one in found.risk.sensitive
    ]
    heads = ("column", "kind", "l", "entropy l", "t", "rows certain", "values ruled out", "guessed (blindly)")
    return "Learning what is sensitive", heads, rows


def _plan(found: Report) -> Section:
    rows: list[tuple[object, ...]] = [
        (one.column, one.cells, one.epsilon, f"±{one.error:g}", f"{one.relative:.1%}") for one in found.marginals
    ]
    title = f"Private counts instead, at ε = {found.epsilon:g} in all"
    return title, ("column", "cells", "epsilon", "error, 95 %", "of the median cell"), rows
