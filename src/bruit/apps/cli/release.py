"""`bruit release`: answers a recipe of questions, or one statistic of a file, paid from a ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rich_click as click
from click.core import ParameterSource
from rich.markup import escape

from bruit.apps.cli.ledger import in_store
from bruit.apps.cli.terminal.answers import show_answer, show_recipe_preview
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, table, writing
from bruit.apps.steward import NAMED, FileStatistic, open_table, preview, price_of, remaining_of
from bruit.apps.steward.answers import labelled_table
from bruit.apps.steward.exports import check_ending, finite, write_answer
from bruit.apps.steward.recipe import (
    Published,
    check_outputs,
    open_recipe,
    read_recipe,
    release_recipe,
    to_json,
    write_outputs,
)
from bruit.apps.steward.statements import make_statement
from bruit.central import STATISTICS, Need
from bruit.core.neighbours import EACH_ROW
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.ledger import Ledger

EXAMPLE = examples(
    "bruit release monthly.toml --preview",
    "bruit release monthly.toml --out reports/2025",
    "bruit release people.csv --person id --rows 1 --count --epsilon 0.5 --ledger clinic --preview",
    "bruit release people.csv --person id --rows 1 --column income --within 0 200000 --grid 100 --quantiles deciles "
    "--epsilon 0.5 --ledger clinic --out deciles.csv --out deciles.svg",
)
MOST_LINES = 100
"""Lines of a table for people; JSON has them all."""


FLAGGED = [statistic for statistic in STATISTICS if not statistic.needs & {Need.PROBABILITIES, Need.GROUPS}]
"""Statistics that a flag asks for; quantiles and groups say more."""


def _flags(command: Callable[..., None]) -> Callable[..., None]:
    """Adds one command-line flag for each statistic."""
    for statistic in reversed(FLAGGED):
        option = click.option(f"--{statistic.name}", f"ask_{statistic.name}", is_flag=True, help=f"{statistic.title}.")
        command = option(command)
    return command


STATED = {
    "person": "the column that says whose row it is, or 'each row'",
    "epsilon": "the price of this release, such as 0.5",
    "ledger": "the book that is charged (`bruit ledger create` makes one)",
}
"""What one statistic needs, in words for who left it out."""


@click.command("release", epilog=EXAMPLE)
@click.argument("source")
@click.option("--person", help="The column that says whose row it is, or 'each row'.")
@click.option("--rows", type=int, help="The most rows of one person that count; with --groups, in each group.")
@click.option("--groups", type=int, help="The most groups that one person counts in.")
@click.option("--column", help="The column that the statistic is about.")
@click.option(
    "--within",
    nargs=2,
    metavar="LOW HIGH",
    help="The lowest and highest value of the column, known before seeing the data.",
)
@click.option("--grid", help="The step that values are rounded to, such as 1 or 0.01.")
@click.option("--missing", help="What a missing or unreadable number counts as; without it such rows are dropped.")
@click.option(
    "--among", metavar="A,B,C", help="The categories of the column (with --group-by, of the grouping column)."
)
@_flags
@click.option("--size", type=int, help="The number of rows where it is public, for a mean in a book for 'replace one'.")
@click.option(
    "--quantiles",
    help="Quantiles of the column: deciles, quartiles, median, percentiles, or numbers such as 0.1,0.5,0.9.",
)
@click.option(
    "--group-by",
    metavar="COLUMN",
    help="Count by the values of this column (with --sum, sum --column). Without --among it needs --delta.",
)
@click.option("--epsilon", help="The price ε of this release: smaller is more private and noisier.")
@click.option("--delta", help="The δ of this release, for groups that nobody listed.")
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="How often the interval holds the truth."
)
@click.option("--ledger", help="The book that is charged; `bruit ledger create` makes one.")
@in_store
@click.option(
    "--out",
    "outs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file for the answer: .csv, .parquet, .xlsx, .json, .svg or .png; may be repeated. "
    "For a recipe: the folder of its answers.",
)
@click.option(
    "--preview",
    "only_preview",
    is_flag=True,
    help="Show the error to expect and what will be left; charge and read nothing.",
)
@json_option
def command(
    *, source: str, store: str, only_preview: bool, as_json: bool, outs: tuple[Path, ...], **stated: Any
) -> None:
    """Release a recipe (a TOML file of many questions, paid for once), or one statistic of a CSV or Parquet file.

    Nothing private has a default: whose rows these are, bounds, categories and the price are yours to state.
    """
    if source.lower().endswith(".toml"):
        refuse_options(stated)
        release_from_file(Path(source), folder_of(outs), store, only_preview=only_preview, as_json=as_json)
        return
    for path in outs:
        check_ending(path)
    flags = {statistic.name: stated.pop(f"ask_{statistic.name}") for statistic in FLAGGED}
    about = {name: stated.pop(name) for name in ("person", "rows", "groups", "epsilon", "delta", "ledger")}
    for name, meaning in STATED.items():
        if about[name] is None:
            raise InvalidArgument(f"--{name} is missing: give {meaning}; nothing private has a default")
    question = FileStatistic(choose_statistic(flags, stated["quantiles"], stated["group_by"]), **stated)
    require_options(question, person=about["person"], rows=about["rows"], delta=about["delta"])
    book = Ledger.open(about["ledger"], store)
    release_one(question, source, book, about, only_preview=only_preview, outs=outs, as_json=as_json)


def release_one(
    question: FileStatistic,
    source: str,
    book: Ledger,
    about: dict[str, Any],
    *,
    only_preview: bool,
    outs: Sequence[Path] = (),
    as_json: bool,
) -> None:
    """Previews, or pays for, shows and writes, one statistic of a file."""
    price = {name: about[name] for name in ("epsilon", "delta") if about[name] is not None}
    data = open_table(source, about["person"], about["rows"], about["groups"])
    if only_preview:
        told = preview(question, data, book, price)
        print_json(told) if as_json else _show_preview(told)
        return
    release = question.release(data, price_of(book, price))
    if as_json:
        print_json({"statistic": question.statistic, **json.loads(release.to_json()), **remaining_of(book)})
    else:
        _show(question, release, book)
    write_files(_title(question), release, book, outs)  # last: what was paid for is shown even if a disk is full


def folder_of(outs: Sequence[Path]) -> Path:
    """The one folder of a recipe's files; the current one if none is named."""
    if len(outs) > 1:
        raise InvalidArgument("a recipe writes into one folder: give --out once")
    if outs and outs[0].is_file():
        raise InvalidArgument(f"--out {outs[0]} is a file: name the folder for the files of the recipe")
    return outs[0] if outs else Path()


def write_files(title: str, release: Release[Any], book: Ledger, outs: Sequence[Path]) -> None:
    """Writes the released numbers, with who promised what, as the kinds of files that their names say."""
    if not outs:
        return
    answer = labelled_table(release, title)
    assert answer is not None  # every statistic of this command is a number or a list of numbers
    number = None if release.receipt is None else release.receipt.number
    said = make_statement(f"Statement: {title}", [answer], book=book, guarantee=release.guarantee, number=number)
    for path in outs:
        with writing(path):
            write_answer(answer, path, about=said.facts)
        click.echo(f"Written: {path}", err=True)


def refuse_options(stated: dict[str, Any]) -> None:
    """Refuses command-line options that the recipe itself must state."""
    context = click.get_current_context()
    assert context is not None
    typed = [name for name in stated if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if typed:
        option = next(each for each in context.command.params if each.name == typed[0])
        raise InvalidArgument(f"{option.opts[0]} is stated in a recipe, not beside it: write it into the file")


def release_from_file(path: Path, folder: Path, store: str, *, only_preview: bool, as_json: bool) -> None:
    """Previews a recipe, or pays for it once and writes its files."""
    recipe = read_recipe(path)
    opened = open_recipe(recipe, Ledger.open(recipe.book, store))
    if only_preview:
        found = opened.preview()
        print_json(found) if as_json else show_recipe_preview(found)
        return
    check_outputs(recipe, folder)
    published = release_recipe(opened)
    written: list[Path] = []
    try:
        with writing(folder):
            written += write_outputs(published, folder)
    finally:  # what was paid for is shown even if a disk is full
        _show_recipe(published, opened.book, written, as_json=as_json)


def _show_recipe(published: Published, book: Ledger, written: Sequence[Path], *, as_json: bool) -> None:
    if as_json:
        print_json({**finite(to_json(published)), "written": [str(each) for each in written], **remaining_of(book)})
        return
    for answer in published.answers:
        show_answer(answer, None)
    show(escape(f"{published.release.guarantee}"), *(escape(f"Written: {each}") for each in written))
    left = book.remaining
    show(escape(f"Left in {book.name}: {left.measure} = {float(left.total):.6g}"))


def choose_statistic(flags: dict[str, bool], quantiles: str | None, group_by: str | None) -> str:
    """The one statistic that the flags ask for; groups are counted, or summed with --sum."""
    asked = [name for name, given in flags.items() if given]
    if quantiles is not None:
        asked.append("quantiles")
    if group_by is not None and set(asked) <= {"count", "sum"} and len(asked) < 2:
        return "group-by"
    if group_by is not None or len(asked) != 1:
        raise InvalidArgument(
            f"ask for one statistic: {', '.join(f'--{name}' for name in flags)}, --quantiles, or --group-by COLUMN "
            "(counts, or sums with --sum and --column)"
        )
    return asked[0]


def require_options(question: FileStatistic, *, person: str, rows: int | None, delta: str | None) -> None:
    """Refuses a question that lacks an option, and names the missing option as it is typed."""
    asked = f"--{question.statistic}"
    needs = STATISTICS[question.statistic].needs
    if needs & {Need.COLUMN, Need.NUMBERS} and question.column is None:
        raise InvalidArgument(f"{asked} needs a column: name it with --column")
    in_numbers = question.column is not None and (Need.GROUPS in needs or question.among is None)
    if in_numbers and (question.within is None or question.grid is None):
        categories = "; or its categories with --among" if STATISTICS[question.statistic].counts_rows else ""
        raise InvalidArgument(
            f"column {question.column!r} needs bounds and a step, --within LOW HIGH and --grid STEP, "
            f"known before seeing the data{categories}"
        )
    if Need.GROUPS in needs and question.among is None and delta is None:
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


def _show(question: FileStatistic, release: Release[Any], book: Ledger) -> None:
    frame = release.frame()
    lines = [[_format_cell(cell) for cell in row] for row in frame.head(MOST_LINES).iter_rows()]
    show(table(escape(_title(question)), frame.columns, lines))
    if len(frame) > MOST_LINES:
        show(f"and {len(frame) - MOST_LINES} more: --json has them all")
    if Need.PROBABILITIES in STATISTICS[question.statistic].needs:
        rank = max(release.details["expected_rank_error"])
        show(f"Expected error: about {rank:.3g} rows in rank; quantiles have no interval.")
    left = book.remaining
    show(
        escape(f"{release.guarantee}; {release.method}"),
        escape(f"Left in {book.name}: {left.measure} = {float(left.total):.6g}"),
    )


def _title(question: FileStatistic) -> str:
    about = question.group_by or question.column
    return question.statistic if about is None else f"{question.statistic} of {about}"


def _format_cell(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.10g}"
    return escape(cell) if isinstance(cell, str) else cell
