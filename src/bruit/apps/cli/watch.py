"""`bruit watch`: publishes a statistic of a growing folder every period, for one price."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars
import rich_click as click
from rich.markup import escape

from bruit.apps.cli.ledger import in_store
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, table, writing
from bruit.continual import Count, Histogram, Keys, Mean, Participation, Stream, StreamQuestion, StreamRecipe, Sum
from bruit.core import Release
from bruit.errors import BadFile, InvalidArgument
from bruit.ledger import Ledger
from bruit.tables import Domain, among, within

EXAMPLE = examples(
    "bruit watch visits/ --name visits --person id --rows 1 --count --once --periods 365 --epsilon 1 "
    "--delta 1e-6 --ledger clinic --out visits.csv",
    "# from cron, the same line publishes the next period every day",
)

STATED = ("name", "person", "rows", "periods", "epsilon", "delta")
"""The options that describe a stream, where no recipe does."""

MOST_LINES = 40
"""Lines of a table for people; JSON has them all."""

MOST_SERIES = 7
"""Lines of a figure that can be told apart."""


@click.command("watch", epilog=EXAMPLE)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--recipe",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A TOML file that states the stream, in place of the options below.",
)
@click.option("--name", help="The name of the stream in its book.")
@click.option("--person", help="The column that says whose row it is, or 'each row'.")
@click.option("--rows", type=int, help="The most rows of one person that count in a period.")
@click.option("--count", is_flag=True, help="Count the rows.")
@click.option("--sum", "sum_", is_flag=True, help="Sum the column.")
@click.option("--mean", is_flag=True, help="Take the mean of the column.")
@click.option("--histogram", is_flag=True, help="Count the rows of each listed value of the column.")
@click.option(
    "--keys", is_flag=True, help="Count the rows of each value of the column, where nobody listed the values."
)
@click.option("--column", help="The column that is counted, summed or averaged.")
@click.option(
    "--within",
    "bounds",
    nargs=2,
    metavar="LOW HIGH",
    help="The lowest and highest value of the column, known before seeing the data.",
)
@click.option("--grid", help="The step that values are rounded to, such as 1 or 0.01.")
@click.option("--among", "values", metavar="A,B,C", help="The categories of the column.")
@click.option("--corrections", help="A column that is -1 in rows that cancel an earlier row, else 1.")
@click.option("--once", is_flag=True, help="Each person's rows count in one period only.")
@click.option("--times", type=int, help="Each person's rows count in at most so many periods.")
@click.option(
    "--apart",
    type=int,
    default=1,
    help="With --times: any two of a person's periods lie at least so many periods apart.",
)
@click.option("--periods", help="How many periods are paid for, or 'unknown'.")
@click.option("--epsilon", help="The price ε of the whole stream, charged when it is opened.")
@click.option("--delta", help="The δ of the whole stream.")
@click.option("--ledger", required=True, help="The book that is charged; `bruit ledger create` makes one.")
@in_store
@click.option(
    "--source", help="A name for this run, such as 2026-03; run again under it, the command repeats what was published."
)
@click.option(
    "--every", type=click.FloatRange(min=0), help="Publish a period every so many seconds, until the last one."
)
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="How often the intervals hold the truth."
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write every published number to this CSV file."
)
@click.option(
    "--figure",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the published numbers with their intervals into this file.",
)
@json_option
def command(*, folder: Path, every: float | None, confidence: float, as_json: bool, **asked: Any) -> None:
    """Publish the next period of a stream from the files of a folder that no period has read yet.

    Rows that come late belong to the period that is open; a period without new files is published too.
    """
    book = Ledger.open(asked["ledger"], asked["store"])
    if asked["source"] is not None and every is not None:
        raise InvalidArgument("--source names one run, --every makes many: give one of them")
    recipe = recipe_of(asked, book)
    recipe.check_folder(folder, book.person)
    stream = recipe.open(book)
    while True:
        release = stream.update_from(folder, source=asked["source"], confidence=confidence)
        write_files(stream, asked["out"], asked["figure"], confidence)
        if as_json:
            print_json({**json.loads(release.to_json()), **spent_after(stream, release)})
        else:
            _show(stream, release)
        if every is None or release.details["period"] == stream.periods:
            return
        time.sleep(every)


def recipe_of(asked: dict[str, Any], book: Ledger) -> StreamRecipe:
    """The recipe of the stream that a file or the options describe."""
    if asked["recipe"] is not None:
        if any(asked[name] is not None for name in STATED):
            raise InvalidArgument(f"the recipe states the stream: leave {_flags(STATED)} away")
        try:
            written = asked["recipe"].read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(f"{asked['recipe']}: not a recipe in TOML: {error}") from error
        return StreamRecipe.from_toml(written)
    if missing := [name for name in STATED if asked[name] is None]:
        raise InvalidArgument(f"say {_flags(missing)}, or give a --recipe")
    if book.person != asked["person"]:
        raise InvalidArgument(f"the book {book.name!r} protects {book.person!r}, not {asked['person']!r}")
    if asked["once"] == (asked["times"] is not None or asked["apart"] > 1):
        raise InvalidArgument("say how often a person counts: --once, --times K, or --apart W (with --times, or alone)")
    return StreamRecipe(
        asked["name"],
        question_of(asked),
        Participation(1 if asked["once"] else asked["times"], asked["apart"]),
        None if asked["periods"] == "unknown" else _whole(asked["periods"]),
        asked["epsilon"],
        asked["delta"],
    )


def _flags(names: Sequence[str]) -> str:
    return ", ".join(f"--{name}" for name in names)


def question_of(asked: dict[str, Any]) -> StreamQuestion:
    """The one stream question that the options ask for."""
    flags = {"count": asked["count"], "sum": asked["sum_"], "mean": asked["mean"]}
    flags |= {"histogram": asked["histogram"], "keys": asked["keys"]}
    chosen = [name for name, given in flags.items() if given]
    if len(chosen) != 1:
        raise InvalidArgument("ask for one of --count, --sum, --mean, --histogram and --keys")
    common = {"rows": asked["rows"], "corrections": asked["corrections"]}
    if chosen == ["count"]:
        return Count(**common)
    if asked["column"] is None:
        raise InvalidArgument(f"--{chosen[0]} needs a column: name it with --column")
    if chosen == ["keys"]:
        return Keys(asked["column"], **common)
    kinds: dict[str, Any] = {"sum": Sum, "mean": Mean, "histogram": Histogram}
    question: StreamQuestion = kinds[chosen[0]](asked["column"], _domain(asked), **common)
    return question


def _domain(asked: dict[str, Any]) -> Domain:
    if asked["values"] is not None:
        return among([value.strip() for value in asked["values"].split(",")])
    if not asked["bounds"] or asked["grid"] is None:
        raise InvalidArgument(
            "the column needs --within LOW HIGH and --grid STEP, or its categories with --among A,B,C"
        )
    return within(*asked["bounds"], grid=asked["grid"])


def _whole(text: str) -> int:
    if not text.isdigit():
        raise InvalidArgument(f"--periods {text}: give a whole number, or 'unknown'")
    return int(text)


def write_files(stream: Stream, out: Path | None, figure: Path | None, confidence: float) -> None:
    """Writes every number published so far as a CSV table and as a figure."""
    if out is None and figure is None:
        return
    series = stream.series(confidence=confidence)
    if out is not None:
        with writing(out):
            series.write_csv(out)
    if figure is not None:
        _draw(stream, series, figure)


def _draw(stream: Stream, series: polars.DataFrame, path: Path) -> None:
    from bruit.apps.plots.bands import plot_bands
    from bruit.apps.plots.figures import Series

    labels = series["label"].unique(maintain_order=True).to_list()[:MOST_SERIES]
    parts = {label: series.filter(polars.col("label") == label) for label in labels}
    lines = [Series(label, one["period"], one["value"], one["low"], one["high"]) for label, one in parts.items()]
    with writing(path):
        plot_bands(path, lines, title=f"{stream.name}, since the start", x="period", y="total")


def spent_after(stream: Stream, release: Release[Any]) -> dict[str, Any]:
    """The epsilon of the periods so far, and that of the whole stream."""
    period = release.details["period"]
    return {"epsilon_so_far": float(stream.guarantee_after(period).epsilon), "epsilon": float(stream.guarantee.epsilon)}


def _show(stream: Stream, release: Release[Any]) -> None:
    frame, period = release.frame(), release.details["period"]
    lines = [[_shown(cell) for cell in row] for row in frame.head(MOST_LINES).iter_rows()]
    show(table(escape(f"{stream.name}: period {period} of {stream.periods}"), frame.columns, lines))
    if len(frame) > MOST_LINES:
        show(f"and {len(frame) - MOST_LINES} more: --json has them all")
    so_far = stream.guarantee_after(period)
    show(escape(f"{release.guarantee}; so far ε = {float(so_far.epsilon):.4g}; {release.method}"))


def _shown(cell: object) -> object:
    return escape(cell) if isinstance(cell, str) else cell
