"""`bruit release`: a private statistic of a file, paid from a book."""

from __future__ import annotations

import json
from typing import Any

import rich_click as click
from rich.markup import escape

from bruit.apps.cli.ledger import in_store
from bruit.apps.cli.output import json_option, print_json, show, table
from bruit.apps.steward import NAMED, Question, left_in, opened, preview, price_of
from bruit.errors import InvalidArgument
from bruit.ledger import Ledger
from bruit.privacy import EACH_ROW, Release

EXAMPLE = (
    "Example: bruit release people.csv --person id --rows 1 --count --epsilon 0.5 --ledger clinic --preview; "
    "bruit release people.csv --person id --rows 1 --column income --within 0 200000 --grid 100 --quantiles deciles "
    "--epsilon 0.5 --ledger clinic"
)
MOST_LINES = 100
"""Lines of a table for people; JSON has them all."""


@click.command("release", epilog=EXAMPLE)
@click.argument("source")
@click.option("--person", required=True, help="The column that says whose row it is, or 'each row'.")
@click.option(
    "--rows", type=int, help="The most rows of one person that count (in each group): 1 where a person has one row."
)
@click.option("--groups", type=int, help="The most groups that one person counts in.")
@click.option("--column", help="The column that the statistic is about.")
@click.option("--within", nargs=2, metavar="LOW HIGH", help="Its bounds, known before seeing the data.")
@click.option("--grid", help="The step that its numbers are rounded to, such as 1 or 0.01.")
@click.option(
    "--missing", help="What a missing number, or a text that is none, counts as; without it such rows are dropped."
)
@click.option("--among", metavar="A,B,C", help="Its categories (of the grouping column with --group-by).")
@click.option("--count", is_flag=True, help="How many rows.")
@click.option("--sum", "sum_", is_flag=True, help="The sum of the column.")
@click.option("--mean", is_flag=True, help="The mean of the column.")
@click.option("--variance", is_flag=True, help="The variance of the column.")
@click.option("--size", type=int, help="The public number of rows, for a mean or a variance.")
@click.option("--histogram", is_flag=True, help="How many rows have each value of the column.")
@click.option("--quantiles", help="deciles, quartiles, median, percentiles, or numbers like 0.1,0.5,0.9.")
@click.option(
    "--group-by", metavar="COLUMN", help="Counts by group; sums with --sum. Without --among it needs --delta."
)
@click.option("--epsilon", required=True, help="The price ε of this release: smaller is more private and noisier.")
@click.option("--delta", help="The δ of this release, for groups that nobody listed.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the interval.")
@click.option("--ledger", required=True, help="The book that pays; it says who the neighbours are.")
@in_store
@click.option(
    "--preview",
    "only_preview",
    is_flag=True,
    help="Show the error to expect and what will be left; charge and read nothing.",
)
@json_option
def command(
    *,
    source: str,
    person: str,
    rows: int | None,
    groups: int | None,
    count: bool,
    sum_: bool,
    mean: bool,
    variance: bool,
    histogram: bool,
    epsilon: str,
    delta: str | None,
    ledger: str,
    store: str,
    only_preview: bool,
    as_json: bool,
    **described: Any,
) -> None:
    """Release a private statistic of a CSV or Parquet file, paid from a book before the file is read.

    Nothing private has a default: whose rows these are, bounds, categories and the price are yours to state.
    """
    flags = {"count": count, "sum": sum_, "mean": mean, "variance": variance, "histogram": histogram}
    question = Question(chosen(flags, described["quantiles"], described["group_by"]), **described)
    require_options(question, person=person, rows=rows, delta=delta)
    book = Ledger.open(ledger, store)
    price = {"epsilon": epsilon} if delta is None else {"epsilon": epsilon, "delta": delta}
    data = opened(source, person, rows, groups)
    if only_preview:
        told = preview(question, data, book, price)
        print_json(told) if as_json else _show_preview(told)
        return
    release = question.release(data, price_of(book, price))
    if as_json:
        print_json({"statistic": question.statistic, **json.loads(release.to_json()), **left_in(book)})
    else:
        _show(question, release, book)


def chosen(flags: dict[str, bool], quantiles: str | None, group_by: str | None) -> str:
    """The one statistic that was asked for; groups are counted, or summed with --sum."""
    asked = [name for name, given in flags.items() if given]
    if quantiles is not None:
        asked.append("quantiles")
    if group_by is not None and set(asked) <= {"count", "sum"} and len(asked) < 2:
        return "group-by"
    if group_by is not None or len(asked) != 1:
        raise InvalidArgument(
            "ask for one statistic: --count, --sum, --mean, --variance, --histogram, --quantiles, or --group-by COLUMN "
            "(counts, or sums with --sum and --column)"
        )
    return asked[0]


def require_options(question: Question, *, person: str, rows: int | None, delta: str | None) -> None:
    """Refuses a question that lacks an option, and names the option as it is typed."""
    asked = f"--{question.statistic}"
    if question.statistic not in ("count", "group-by") and question.column is None:
        raise InvalidArgument(f"{asked} needs a column: name it with --column")
    in_numbers = question.column is not None and (question.statistic == "group-by" or question.among is None)
    if in_numbers and (question.within is None or question.grid is None):
        categories = "; or its categories with --among" if question.statistic in ("count", "histogram") else ""
        raise InvalidArgument(
            f"column {question.column!r} needs bounds and a step, --within LOW HIGH and --grid STEP, "
            f"known before seeing the data{categories}"
        )
    if question.statistic == "group-by" and question.among is None and delta is None:
        raise InvalidArgument("groups that nobody listed need --delta, such as 1e-6; or list them with --among A,B,C")
    if question.quantiles is not None and question.quantiles.isalpha() and question.quantiles not in NAMED:
        raise InvalidArgument(
            f"--quantiles {question.quantiles}: choose among {', '.join(NAMED)}, or give numbers like 0.1,0.5,0.9"
        )
    if person != EACH_ROW and rows is None:
        raise InvalidArgument(
            f"one {person!r} may have many rows: say with --rows how many of them count, 1 where each has one"
        )


def _show_preview(told: dict[str, Any]) -> None:
    unit = told["measure"]
    rows = [
        ("statistic", told["statistic"]),
        *((f"expected {name}", f"± {error:.6g}") for name, error in told["expected_error"].items()),
        *(("note", escape(note)) for note in told["notes"]),
        ("guarantee", escape(told["promise"])),
        (f"price, {unit}", f"{told['price']:.6g}"),
        (f"left in {escape(told['ledger'])}, {unit}", f"{told['left']:.6g}"),
        ("left afterwards", f"{told['left_after']:.6g}" if told["enough"] else "not enough: it would be refused"),
    ]
    show(table("Preview: nothing was read, nothing was charged", ("", "value"), rows))


def _show(question: Question, release: Release[Any], book: Ledger) -> None:
    frame = release.frame()
    lines = [[_shown(cell) for cell in row] for row in frame.head(MOST_LINES).iter_rows()]
    show(table(escape(_title(question)), frame.columns, lines))
    if len(frame) > MOST_LINES:
        show(f"and {len(frame) - MOST_LINES} more: --json has them all")
    if question.statistic == "quantiles":
        rank = max(release.details["expected_rank_error"])
        show(f"Expected error: about {rank:.3g} rows in rank; quantiles have no interval.")
    left = book.remaining
    show(
        escape(f"{release.guarantee}; {release.method}"),
        escape(f"Left in {book.name}: {left.measure} = {float(left.total):.6g}"),
    )


def _title(question: Question) -> str:
    about = question.group_by or question.column
    return question.statistic if about is None else f"{question.statistic} of {about}"


def _shown(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.10g}"
    return escape(cell) if isinstance(cell, str) else cell
