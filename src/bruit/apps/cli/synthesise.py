"""`bruit synthesise`: makes a synthetic table of a file, paid from a ledger."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rich_click as click
from rich.markup import escape

from bruit.apps.cli.ledger import in_store
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, table, writing
from bruit.apps.extras import require_extras
from bruit.apps.steward import price_of, remaining_of
from bruit.apps.steward.synthetic_tables.request import columns_of, read_where
from bruit.core import EACH_ROW
from bruit.core.toml import read_toml
from bruit.errors import BadFile, InvalidArgument, MissingData
from bruit.ledger import Ledger
from bruit.privacy import Release
from bruit.synthetic import Mode, SyntheticTable, Where, save, synthesise
from bruit.synthetic.synthetic_table import EXCEL_ROWS
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.operators import open_table
from bruit.tables.reading import FACTS
from bruit.tables.schema import Schema

EXAMPLE = examples(
    "bruit synthesise people.csv --schema people.toml --epsilon 1 --delta 1e-5 --ledger clinic --out made.csv",
)
ENDINGS = (".csv", ".parquet", ".xlsx")


@dataclass(frozen=True)
class SchemaFile:
    """The content of a TOML file: a table's schema, and the settings of its synthesis."""

    schema: Schema
    limit: Limit | None
    edges: dict[str, list[Any]] = field(default_factory=dict)
    impossible: list[Where] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The columns to synthesise: all of categories or numbers, except the person's."""
        return columns_of(self.schema)


def read_schema(path: Path, source: str, rows: int | None = None) -> SchemaFile:
    """Reads a schema as `Schema.to_toml` writes it, plus `rows`, `edges` and `impossible` for the synthesis.

    `rows` may be given beside the file, so that one file serves the other commands too.

    Where it states no format, the ending of the `source` does, a Parquet file's say.
    The person is a column of whole numbers or texts; where the file does not declare it, its texts are compared.
    """
    try:
        text = path.read_text("utf-8")
        stated, exact = read_toml(text), read_toml(text, parse_float=str)
    except FileNotFoundError:
        raise MissingData(f"{path}: no such file; state the columns there, see docs/synthetic.md") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadFile(f"{path}: not a schema in TOML: {error}") from error
    if "person" not in stated or not isinstance(stated.get("columns"), dict) or not stated["columns"]:
        raise InvalidArgument(f"{path}: a schema states person = ... and a table [columns.NAME] for each column")
    columns = {name: _without(about, "edges") for name, about in exact["columns"].items()}
    if stated["person"] != EACH_ROW and stated["person"] not in columns:
        columns[stated["person"]] = {"type": "text"}
    usual = FACTS[ending].to_json() if (ending := Path(source).suffix.lower()) in FACTS else {}
    rest = {"file": usual, **_without(exact, "rows", "impossible", "columns")}
    edges = {name: about["edges"] for name, about in exact["columns"].items() if "edges" in about}
    impossible = [read_where(each) for each in stated.get("impossible", [])]
    limit = _limit(path, stated, rows)
    return SchemaFile(Schema.from_json({**rest, "columns": columns}), limit, edges, impossible)


def _limit(path: Path, stated: dict[str, Any], rows: int | None) -> Limit | None:
    """How many rows of one person count: by the file or by --rows; None where each row is a person."""
    if stated["person"] == EACH_ROW:
        if rows is not None:
            raise InvalidArgument(f"--rows {rows}: in {path} each row is a person of its own; leave it out")
        return None
    if rows is not None and stated.get("rows", rows) != rows:
        raise InvalidArgument(f"--rows {rows}, but {path} says rows = {stated['rows']}: give one of them")
    if rows is None and "rows" not in stated:
        raise InvalidArgument(f"{path}: say how many rows of one person count: rows = 1 there, or --rows 1")
    return Limit(rows=stated["rows"] if rows is None else rows)


def _without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


@click.command("synthesise", epilog=EXAMPLE)
@click.argument("source")
@click.option(
    "--schema",
    required=True,
    type=click.Path(path_type=Path),
    help="The schema of the file (TOML); `bruit schema` drafts one.",
)
@click.option("--epsilon", required=True, help="The price ε: smaller is more private and noisier.")
@click.option("--rows", type=click.IntRange(1), help="The most rows of one person that count, unless the file says it.")
@click.option("--delta", required=True, help="The price δ, such as 1e-5; well below 1 / the number of people.")
@click.option("--ledger", required=True, help="The book that is charged; `bruit ledger create` makes one.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The file to write the rows to: .csv, .parquet or .xlsx.",
)
@click.option(
    "--save",
    "place",
    type=click.Path(path_type=Path),
    help="A further file (.npz) of rows and noisy counts: bruit.synthetic.load answers from it, with intervals.",
)
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default="adaptive",
    show_default=True,
    help="Measure marginals chosen round by round (adaptive), or pairs of columns along one tree: faster, less true.",
)
@click.option(
    "--size", type=int, help="The number of rows that count, where it is public; if absent, a noisy count is paid for."
)
@click.option(
    "--expected-rows",
    type=int,
    help="Roughly how many rows there are, as a public guess: it sets how many marginals are measured.",
)
@click.option("--predict", help="A column that models will predict: its relation to every other column is measured.")
@in_store
@json_option
def command(
    *,
    source: str,
    schema: Path,
    rows: int | None,
    epsilon: str,
    delta: str,
    ledger: str,
    out: Path,
    place: Path | None,
    mode: str,
    size: int | None,
    expected_rows: int | None,
    predict: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Write a table of invented rows with the patterns of a CSV, Parquet or Excel file, paid before it is read.

    The schema states person, columns and cells; nothing is read off the data. Beside the rows stands a statement of
    what they may be used for and what not.
    """
    _require_place("--out", out, ENDINGS)
    if place is not None:
        _require_place("--save", place, (".npz",))
    if out.suffix.lower() == ".xlsx":
        require_extras("Excel files", "excel")
    stated, book = read_schema(schema, source, rows), Ledger.open(ledger, store)
    release = synthesise(
        open_table(source, stated.schema),
        stated.names,
        budget=price_of(book, {"epsilon": epsilon, "delta": delta}),
        limit=stated.limit,
        edges=stated.edges,
        mode=mode,
        size=size,
        expected_rows=expected_rows,
        impossible=stated.impossible,
        predict=predict,
    )
    out = _fitting(out, release.value)
    with writing(out):
        release.value.write(out)
    if place is not None:
        with writing(place):
            save(release.value, place)
    if as_json:
        saved = {} if place is None else {"save": str(place)}
        guarantee = str(release.guarantee)
        print_json({"out": str(out), **saved, "guarantee": guarantee, **release.details, **remaining_of(book)})
    else:
        _show(release, out, book)


def _require_place(option: str, path: Path, endings: Sequence[str]) -> None:
    """Refuses, before anything is paid, a file that could not be written."""
    if path.suffix.lower() not in endings:
        raise InvalidArgument(f"{option} {path.name}: give a name that ends in {' or '.join(endings)}")
    if not os.access(path.parent, os.W_OK):
        raise InvalidArgument(
            f"{option} {path}: the folder {path.parent} is not there, or not yours to write; nothing is paid"
        )
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        raise InvalidArgument(f"{option} {path}: what stands there cannot be written over; nothing is paid")


def _fitting(out: Path, made: SyntheticTable) -> Path:
    """Where the rows go: a workbook that is too small for them becomes Parquet, as the price is paid already."""
    too_many = out.suffix.lower() == ".xlsx" and len(made.rows) >= EXCEL_ROWS
    return out.with_suffix(".parquet") if too_many else out


def _show(release: Release[SyntheticTable], out: Path, book: Ledger) -> None:
    value, left = release.value, book.remaining
    rows = [
        ("rows", f"{len(value.rows)}"),
        ("columns", escape(", ".join(column.name for column in value.columns))),
        ("guarantee", escape(str(release.guarantee))),
        (f"left in {escape(book.name)}, {left.measure}", f"{float(left.total):.6g}"),
    ]
    show(table(f"Synthetic table: {escape(str(out))}", ("", "value"), rows), escape(value.statement))
