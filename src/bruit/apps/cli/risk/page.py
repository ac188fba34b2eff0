"""The report of `bruit risk` as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bruit.anonymity import Report
from bruit.apps.steward import sections

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 0 0 1.5rem }
caption { text-align: left; font-weight: bold; padding: .5rem 0 }
th, td { border-bottom: 1px solid #ddd; padding: .3rem .8rem; text-align: left }
.notice { background: #fff4e5; border-left: 4px solid #d55e00; padding: .6rem 1rem }
"""


def page(name: str, found: Report) -> str:
    """The report as HTML, with aggregates and column names but no value of the table."""
    title = f"What {name} gives away"
    tables = "\n".join(_table(*section) for section in sections(found))
    advice = "\n".join(f"<li>{escape(line)}</li>" for line in found.advice)
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style></head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f'<p class="notice">{escape(found.notice)}</p>\n<h2>What to do</h2>\n<ul>\n{advice}\n</ul>\n{tables}\n'
        "</body>\n</html>\n"
    )


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(_text(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption>\n<tr>{top}</tr>\n{body}\n</table>"


def _text(cell: object) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
