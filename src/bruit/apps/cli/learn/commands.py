"""`bruit learn`: fits a model to a file, paid from a ledger, and writes it with its card."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rich_click as click
from rich.markup import escape

from bruit.apps.cli.learn.task import CLASSIFIERS, REGRESSORS, Task
from bruit.apps.cli.ledger import in_store
from bruit.apps.cli.terminal.output import json_option, print_json, show, writing
from bruit.apps.steward import price_of, remaining_of
from bruit.apps.steward.schemas import read_schema
from bruit.core.numbers import exactly
from bruit.errors import InvalidArgument
from bruit.ledger import Ledger

EXAMPLE = (
    "Example: bruit learn people.csv --schema people.toml --predict illness --epsilon 1 --delta 1e-6 --evaluate 0.5 "
    "--ledger clinic --out illness.bruit; in Python: bruit.learning.load('illness.bruit').predict(rows)"
)
LEAST = 1e-6
"""The least price of figures; far below it their noise has no room in 64 bits."""

MODELS = tuple(dict.fromkeys([*CLASSIFIERS, *REGRESSORS]))


@click.command("learn", epilog=EXAMPLE)
@click.argument("source")
@click.option("--schema", required=True, type=click.Path(path_type=Path), help="What is known of the table beforehand.")
@click.option("--predict", required=True, help="The column to predict: categories, yes or no, or numbers.")
@click.option("--model", type=click.Choice(MODELS), default="AdditiveModel", show_default=True, help="What is fitted.")
@click.option("--epsilon", required=True, help="The price ε of the fit: smaller is more private and noisier.")
@click.option("--delta", help="The price δ, such as 1e-6; trees and additive models need one.")
@click.option("--evaluate", help="A further ε: buys accuracy, AUC and log loss on a quarter of the people, held back.")
@click.option("--rows", type=click.IntRange(1), default=1, show_default=True, help="Rows of one person that count.")
@click.option(
    "--size", type=click.IntRange(1), help="The number of rows fitted on, where it is public; else it is paid."
)
@click.option("--use", default="", help="What the model is for; it stands on its card.")
@click.option("--ledger", required=True, help="The book that pays; it says who the neighbours are.")
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Where the model goes.")
@in_store
@json_option
def command(
    *,
    source: str,
    schema: Path,
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
    """Fit a model to a CSV, Parquet or Excel file, buy figures on people held back, and write one file.

    All columns of the schema that hold numbers, categories, or yes and no are used; nothing is read off the data. The
    file holds the model and its card: no rows, no book, no address. It is read by bruit.learning.load.
    """
    if not out.parent.is_dir():
        raise InvalidArgument(f"--out {out}: there is no folder {out.parent}; make it first")
    task, book = Task(read_schema(schema), predict, model), Ledger.open(ledger, store)
    prices = [_price(epsilon, delta)] + ([] if evaluate is None else [_price(evaluate, None)])
    _require_both(book, prices, task)
    with _reserve_output(out):
        fitted, figures = task.learn(source, [price_of(book, each) for each in prices], rows=rows, size=size)
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
    """A file that can be written, shown before anything is paid; no empty one is left where something fails."""
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


def _require_both(book: Ledger, prices: list[dict[str, Any]], task: Task) -> None:
    """Refuses what the book cannot pay in all, so that no fit is paid for whose figures are refused."""
    if len(prices) == 2:
        task.require_classes()
        if exactly(prices[1]["epsilon"], "--evaluate") < LEAST:
            raise InvalidArgument(f"--evaluate {prices[1]['epsilon']} buys noise alone: give at least {LEAST:g}")
        total = sum(exactly(each["epsilon"], "epsilon") for each in prices)
        whole = price_of(book, {**prices[0], "epsilon": str(total)})
        whole.quote(whole.loss, what="bruit learn")
