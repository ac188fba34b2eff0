"""`bruit ask`: a SELECT over a file under its schema, previewed or paid from a book."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click
from rich.markup import escape

from bruit.apps.cli.ledger import in_store
from bruit.apps.cli.terminal.answers import show_answer, show_preview
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, writing
from bruit.apps.steward.answers import AnswerTable, answer_table
from bruit.apps.steward.exports import check_ending, check_writable, finite, write_answer
from bruit.apps.steward.previews import remaining_of
from bruit.apps.steward.queries import Query, preview_query
from bruit.apps.steward.schemas import read_schema
from bruit.apps.steward.sources import open_plan, read_public
from bruit.apps.steward.statements import make_statement, statement_page
from bruit.central.questions import Limit
from bruit.errors import InvalidArgument
from bruit.ledger import Ledger

EXAMPLE = examples(
    'bruit ask stays.csv "select ward, count(*) as n, avg(days) as m from stays group by ward" '
    "--schema stays.toml --rows 3 --epsilon 0.5 --ledger hospital --preview",
    "# without --preview it is paid for",
)


@click.command("ask", epilog=EXAMPLE)
@click.argument("source")
@click.argument("sql")
@click.option(
    "--schema",
    required=True,
    type=click.Path(path_type=Path),
    help="The schema of the file (TOML); `bruit schema` drafts one.",
)
@click.option("--table", help="The table's name in the database or DuckDB file, where it is not the schema's.")
@click.option(
    "--with",
    "others",
    nargs=2,
    multiple=True,
    metavar="FILE SCHEMA",
    help="Another table of the same people, to JOIN, and its schema; may be repeated.",
)
@click.option(
    "--public",
    nargs=3,
    multiple=True,
    metavar="NAME FILE KEY",
    help="A table that everybody may see, to JOIN on its column KEY; may be repeated.",
)
@click.option("--rows", type=int, help="The most rows of one person that count, in all.")
@click.option("--groups", type=int, help="The most groups in which one person counts; with --each, in place of --rows.")
@click.option("--each", type=int, help="The most rows of one person that count in each group; with --groups.")
@click.option(
    "--most", type=int, help="The most rows that one person may have after a join or a summary for each person."
)
@click.option("--epsilon", required=True, help="The price ε: smaller is more private and noisier.")
@click.option(
    "--delta", help="The price δ, such as 1e-6: needed for groups that nobody listed; elsewhere it buys narrower noise."
)
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="How often the intervals hold the truth."
)
@click.option(
    "--noise",
    type=click.Choice(["laplace", "gaussian"]),
    help="The distribution of the noise; the narrower one if absent.",
)
@click.option(
    "--dialect", default="duckdb", show_default=True, help="The SQL dialect: duckdb, postgres, spark, bigquery, tsql."
)
@click.option("--ledger", required=True, help="The book that is charged; `bruit ledger create` makes one.")
@in_store
@click.option(
    "--preview",
    "only_preview",
    is_flag=True,
    help="Show the question as it was understood, its price and precision; pay and read nothing.",
)
@click.option(
    "--out",
    "outs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file for the answer: .csv, .parquet, .xlsx, .json, .svg or .png; may be repeated.",
)
@click.option(
    "--statement",
    type=click.Path(path_type=Path),
    help="Write an HTML page that says in plain words what was asked and promised.",
)
@json_option
def command(**asked: Any) -> None:
    """Answer a SELECT over a CSV, Excel, Parquet, DuckDB or SQLite file, paid from a book before the file is read.

    What cannot be answered privately is refused in one sentence that names what can; nothing is charged then.
    """
    book = Ledger.open(asked["ledger"], asked["store"])
    for path in asked["outs"]:
        check_ending(path)
    if asked["statement"] is not None:
        check_writable(asked["statement"])
    query = query_of(asked, book)
    price = {name: asked[name] for name in ("epsilon", "delta") if asked[name] is not None}
    if asked["only_preview"]:
        found = preview_query(query, book, price)
        print_json(found) if asked["as_json"] else show_preview(found)
        return
    release = query.release(book, price)
    answer = answer_table(query, release)
    if asked["as_json"]:
        print_json({**finite(answer.to_json()), **remaining_of(book)})
    else:
        show_answer(answer, book)
    _write(asked, answer, book)  # last: what was paid for is shown even if a disk is full


def query_of(asked: dict[str, Any], book: Ledger) -> Query:
    """Builds the query from the options and opens its tables; no row is read."""
    schema = read_schema(asked["schema"])
    tables: dict[str, Any] = {schema.name: open_plan(asked["source"], schema, table=asked["table"], book=book)}
    for file, path in asked["others"]:
        other = read_schema(Path(path))
        if other.name in tables:
            raise InvalidArgument(f"two tables are called {other.name!r}: give one schema another name")
        tables[other.name] = open_plan(file, other, book=book)
    for name, file, key in asked["public"]:
        tables[name] = read_public(file, key)
    return Query(
        asked["sql"],
        tables,
        limit_of(asked["rows"], asked["groups"], asked["each"]),
        most=asked["most"],
        confidence=asked["confidence"],
        noise=asked["noise"],
        dialect=asked["dialect"],
    )


def limit_of(rows: int | None, groups: int | None, each: int | None) -> Limit | None:
    """The limit stated by the options; None where they state none."""
    return None if rows is groups is each is None else Limit(rows=rows, groups=groups, each=each)


def _write(asked: dict[str, Any], answer: AnswerTable, book: Ledger) -> None:
    receipt = answer.release.receipt
    statement = make_statement(
        f"Statement: {answer.title}",
        [answer],
        book=book,
        guarantee=answer.release.guarantee,
        number=None if receipt is None else receipt.number,
    )
    for path in asked["outs"]:
        with writing(path):
            write_answer(answer, path, about=statement.facts)
    if asked["statement"] is not None:
        with writing(asked["statement"]):
            asked["statement"].write_text(statement_page(statement), encoding="utf-8")
    if not asked["as_json"]:
        for path in (*asked["outs"], *([asked["statement"]] if asked["statement"] else [])):
            click.echo(f"Written: {escape(str(path))}", err=True)
