"""The statement of a release in plain words: the question, who is protected, the price and the precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from bruit.apps.steward.answers import AnswerTable
from bruit.apps.steward.charts import STYLE, charts_of, svg_on_page
from bruit.apps.steward.queries import NOISES
from bruit.core.guarantee import Guarantee, print_above
from bruit.core.release import Release
from bruit.ledger import Ledger
from bruit.ledger.statements import sentence

MOST_ROWS = 200
"""Rows of an answer that a statement prints; the files have them all."""


@dataclass(frozen=True)
class Statement:
    """The content of a statement, to be shown as a page, an Excel sheet or text."""

    title: str
    facts: tuple[tuple[str, str], ...]
    answers: tuple[AnswerTable, ...]


def make_statement(
    title: str,
    answers: Sequence[AnswerTable],
    *,
    book: Ledger,
    guarantee: Guarantee,
    number: int | None = None,
) -> Statement:
    """Makes the statement of one charge that paid for one or more answers."""
    entry = "" if number is None else f", entry {number}"
    left = book.remaining
    facts = [
        *(
            (f"Question {place}" if len(answers) > 1 else "Question", _question(each))
            for place, each in enumerate(answers, 1)
        ),
        ("Who is protected", _protected(book)),
        (
            "What was paid",
            f"{_paid(guarantee)} from the book {book.name!r}{entry}; left: {left.measure} = {float(left.total):.6g}",
        ),
        ("What the whole book promises", sentence(book)),
        ("How precise", " ".join(_precision(each) for each in answers)),
        ("Tables", tables_read([each.release for each in answers])),
        ("Taken for granted", _assumed(guarantee, book)),
        (
            "Not covered",
            "What one person loses is the sum over all books with their rows; other books are not seen here. What the "
            "choice of groups, bounds and limits tells is not covered where somebody made it after seeing the table.",
        ),
    ]
    return Statement(title, tuple(facts), tuple(answers))


def statement_page(statement: Statement) -> str:
    """The statement as one self-contained, printable HTML page with charts and values."""
    rows = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in statement.facts
    )
    answers = "".join(map(_answer_section, statement.answers))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(statement.title)}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_PAGE}{STYLE}</style></head>'
        f"<body><main><h1>{escape(statement.title)}</h1><table class='facts'><tbody>{rows}</tbody></table>{answers}"
        "</main></body></html>\n"
    )


def statement_text(statement: Statement) -> str:
    """The statement as plain text."""
    return "\n\n".join([statement.title, *(f"{name}: {text}" for name, text in statement.facts)]) + "\n"


_PAGE = (
    ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0}"
    "main{max-width:56rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}"
    "th,td{border-bottom:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}"
    ".facts th{width:12rem}td.number{text-align:right;font-variant-numeric:tabular-nums}"
    "svg{max-width:100%;height:auto}section{break-inside:avoid-page}@media print{main{margin:0}}"
)


def _answer_section(answer: AnswerTable) -> str:
    heads = "".join(f"<th scope='col'>{escape(name)}</th>" for name in answer.frame.columns)
    lines = "".join(
        f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in answer.frame.head(MOST_ROWS).iter_rows()
    )
    more = len(answer.frame) - MOST_ROWS
    rest = f"<p>and {more} more rows: the files have them all</p>" if more > 0 else ""
    drawn = (
        "".join(f"<figure>{svg_on_page(chart)}</figure>" for chart in charts_of(answer)) if len(answer.frame) else ""
    )
    return (
        f"<section><h2>{escape(answer.title)}</h2>{drawn}"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>{rest}</section>"
    )


def _cell(cell: object) -> str:
    if isinstance(cell, float):
        return f'<td class="number">{cell:,.6g}</td>'
    return f"<td>{escape(str(cell))}</td>"


def _question(answer: AnswerTable) -> str:
    return answer.words if answer.title == answer.words else f"{answer.title}: {answer.words}"


def _protected(book: Ledger) -> str:
    if book.person == "each row":
        return f"each row ({book.neighbours})"
    return (
        f"each person, that is each value of {book.person!r} ({book.neighbours}); two people of one value count as one"
    )


def _paid(guarantee: Guarantee) -> str:
    from fractions import Fraction

    delta = f", δ = {print_above(guarantee.delta, digits=3)}" if guarantee.delta else ""
    return f"ε = {print_above(Fraction(guarantee.epsilon), digits=4)}{delta}"


def _precision(answer: AnswerTable) -> str:
    """How far each value can be from that of the rows that count, from the narrowest interval to the widest."""
    lines, without = [], []
    for name in answer.values:
        ends = answer.ends(name)
        if ends is None or not len(answer.frame):
            without.append(name)
            continue
        widths = (ends[1] - ends[0]) / 2
        least, most = f"{widths.min():,.4g}", f"{widths.max():,.4g}"
        lines.append(f"{name} ± {least}" if least == most else f"{name} ± {least} to {most}")
    lines += [f"{', '.join(without)} without an interval"] if without else []
    level = "" if answer.confidence is None else f", each at {100 * answer.confidence:g} % for the rows that count"
    return f"{', '.join(lines)}{level}; noise: {noise_words(answer.release.method)}."


def noise_words(method: str) -> str:
    """A release's `method` in printed words: each noise's key replaced by its name."""
    return ", ".join(NOISES.get(each, each) for each in method.split(", "))


def tables_read(releases: Sequence[Release[Any]]) -> str:
    """Name, version and schema of every table that releases were computed from, as their entries have them."""
    asked = [release.details.get("asked") or {} for release in releases]
    found = {each["name"]: each for one in asked for each in one.get("tables", ())}
    versions = {name: f", version {each['version']}" if each["version"] else "" for name, each in found.items()}
    lines = [f"{name}{versions[name]} (schema {each['schema'][:12]})" for name, each in found.items()]
    return "; ".join(lines) or "not registered, so neither name nor version is recorded"


def _assumed(guarantee: Guarantee, book: Ledger) -> str:
    looked = [entry.when for entry in book.entries if entry.what == LOOKED]
    told = [str(each) for each in guarantee.assumes]
    told.append(
        "schema, limits and questions chosen without the records"
        if not looked
        else f"schema and limits chosen by someone who saw exact figures on {looked[-1]:%Y-%m-%d}: what they tell is "
        "not covered"
    )
    return "; ".join(told)


LOOKED = "tables.look"
"""What stands in a book where its curator looked at a table."""
