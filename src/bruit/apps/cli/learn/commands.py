"""`bruit learn`: fits a model to a file, paid from a ledger, and writes it with its card."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import rich_click as click
from rich.markup import escape

from bruit.apps.cli.learn.task import CLASSIFIERS, REGRESSORS, Task
from bruit.apps.cli.ledger import in_store
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, writing
from bruit.apps.steward import price_of, remaining_of
from bruit.apps.steward.schemas import read_schema
from bruit.core.numbers import exactly
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, Ledger

EXAMPLE = examples(
    "bruit learn people.csv --schema people.toml --predict illness --epsilon 1 --delta 1e-6 --evaluate 0.5 "
    "--ledger clinic --out illness.bruit",
    "# in Python: bruit.learning.load('illness.bruit').predict(rows)",
)
LEAST = 1e-6
"""The smallest ε of --evaluate: noise for a far smaller one would leave the range of 64-bit integers."""

MODELS = tuple(dict.fromkeys([*CLASSIFIERS, *REGRESSORS]))


@click.command("learn", epilog=EXAMPLE)
@click.argument("source")
@click.option(
    "--schema",
    required=True,
    type=click.Path(path_type=Path),
    help="The schema of the file (TOML); `bruit schema` drafts one.",
)
@click.option("--table", help="The table's name in the database or DuckDB file, where it is not the schema's.")
@click.option("--predict", required=True, help="The column to predict: categories, yes or no, or numbers.")
@click.option(
    "--model", type=click.Choice(MODELS), default="AdditiveModel", show_default=True, help="The kind of model."
)
@click.option("--epsilon", required=True, help="The price ε of the fit: smaller is more private and noisier.")
@click.option("--delta", help="The price δ, such as 1e-6; trees and additive models need one.")
@click.option("--evaluate", help="A further ε: buys accuracy, AUC and log loss on a quarter of the people, held back.")
@click.option(
    "--rows", type=click.IntRange(1), default=1, show_default=True, help="The most rows of one person that count."
)
@click.option(
    "--size",
    type=click.IntRange(1),
    help="The number of rows fitted on, where it is public; if absent, a noisy count is paid for.",
)
@click.option("--use", default="", help="What the model is for, in words, for its model card.")
@click.option("--ledger", required=True, help="The book that is charged; `bruit ledger create` makes one.")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The file to write the model to."
)
@in_store
@json_option
def command(
    *,
    source: str,
    schema: Path,
    table: str | None,
    predict: str,
    model: str,
    epsilon: str,
    delta: str | None,
    evaluate: str | None,
    rows: int,
    size: int | None,
    use: str,
    ledger: str,
    out: Path,
    store: str,
    as_json: bool,
) -> None:
    """Fit a model to a CSV, Excel, Parquet, DuckDB or SQLite file, or a table of PostgreSQL, and write one file.

    All columns of the schema that hold numbers, categories, or yes and no are used; nothing is read off the data. With
    --evaluate figures are bought on people held back. The file holds the model and its card: no rows, no book, no
    address. It is read by bruit.learning.load.
    """
    if not out.parent.is_dir():
        raise InvalidArgument(f"--out {out}: there is no folder {out.parent}; make it first")
    task, book = Task(read_schema(schema), predict, model, rows, size), Ledger.open(ledger, store)
    prices = [_price(epsilon, delta)] + ([] if evaluate is None else [_price(evaluate, None)])
    _require_figures(prices, task)
    with _reserve_output(out):
        people = task.read(source, table=table, book=book)
        _require_room(book, prices, partial(task.learn, people.nobody(book.neighbours)))
        fitted, figures = task.learn(people, [price_of(book, each) for each in prices])
        with writing(out):
            fitted.save(out, intended_use=use, figures=figures)
    card = fitted.card(intended_use=use, figures=figures)
    if as_json:
        print_json({"out": str(out), "guarantee": str(fitted.guarantee_), "card": card.to_json(), **remaining_of(book)})
    else:
        left = book.remaining
        show(
            escape(card.text),
            escape(f"Written to {out}. Left in {book.name}: {left.measure} = {float(left.total):.6g}"),
        )


@contextmanager
def _reserve_output(out: Path) -> Iterator[None]:
    """Checks before the charge that the output file can be written; a failure leaves no empty file behind."""
    with writing(out):
        made = not out.exists()
        out.open("ab").close()
    try:
        yield
    except BaseException:
        if made:
            out.unlink(missing_ok=True)
        raise


def _price(epsilon: str, delta: str | None) -> dict[str, Any]:
    return {"epsilon": epsilon} | ({} if delta is None else {"delta": delta})


def _require_figures(prices: list[dict[str, Any]], task: Task) -> None:
    """Refuses --evaluate for a regression, which has no classes, and for an ε that would buy only noise."""
    if len(prices) == 2:
        task.require_classes()
        if exactly(prices[1]["epsilon"], "--evaluate") < LEAST:
            raise InvalidArgument(f"--evaluate {prices[1]['epsilon']} buys noise alone: give at least {LEAST:g}")


def _require_room(book: Ledger, prices: list[dict[str, Any]], rehearse: Callable[[list[Budget]], object]) -> None:
    """Refuses, before any charge, a fit and an evaluation that the book cannot pay for together.

    Fit and figures are rehearsed on nobody's rows, paid from an empty book of the same terms: what one of them refuses
    is refused before anything is charged, and what they cost together must be left.
    """
    empty = Ledger.in_memory(book.name, book.terms)
    rehearse([price_of(empty, each) for each in prices])
    book.require_room_for(empty)
