"""Reads and checks a recipe file: tables, questions, one price and outputs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bruit.apps.steward.recipe.written_questions import sql_of
from bruit.apps.steward.schemas import read_schema
from bruit.apps.steward.synthetic_tables.request import SynthesisRequest
from bruit.central.questions import Limit
from bruit.core.neighbours import EACH_ROW
from bruit.core.toml import read_toml
from bruit.errors import BadFile, InvalidArgument, MissingData

SPLITS = ("weights", "errors")
TOTALS = ("plain", "consistent")
OUTPUTS = {"csv": True, "excel": True, "parquet": True, "json": True, "figure": ("svg", "png"), "statement": ("html",)}
"""What can be written: true or false, or one of these kinds."""


@dataclass(frozen=True)
class PartEntry:
    """The cell of a registered table that the question reads and charges; a person has rows in at most `cells`."""

    column: str
    cells: int
    cell: str


@dataclass(frozen=True)
class TableEntry:
    """The path of a table and of its schema, relative to the recipe."""

    source: str
    schema: Path
    table: str | None = None
    part: PartEntry | None = None


@dataclass(frozen=True)
class QuestionEntry:
    """One question of a recipe: its title, its SQL, and its weight or the error it must reach.

    `for_groups_of` is a public number of rows, the smallest group that the error of a mean is meant for.
    """

    title: str
    sql: str
    limit: Limit | None
    most: int | None
    weight: int
    within: float | None
    for_groups_of: int | None
    totals: str


@dataclass(frozen=True)
class SyntheticEntry:
    """A synthetic table in a recipe, with a price of its own."""

    table: str
    price: Mapping[str, str]
    request: SynthesisRequest


@dataclass(frozen=True)
class RunningEntry:
    """A stream in a recipe: running totals, one price; a person counts in at most `times` periods."""

    name: str
    sql: str
    limit: Limit | None
    most: int | None
    times: int | None
    apart: int
    periods: int
    period: str
    price: Mapping[str, str]


@dataclass(frozen=True)
class Recipe:
    """Questions that are paid with one charge and answered in one pass, and what to write."""

    path: Path
    title: str
    book: str
    price: Mapping[str, str]
    split: str
    confidence: float
    tables: Mapping[str, TableEntry]
    public: Mapping[str, tuple[str, str]]
    questions: tuple[QuestionEntry, ...]
    output: Mapping[str, bool | str] = field(default_factory=dict)
    synthetic: SyntheticEntry | None = None
    running: tuple[RunningEntry, ...] = ()


def read_recipe(path: Path) -> Recipe:
    """Reads a recipe from a TOML file; every error names the file and what is allowed."""
    try:
        values = read_toml(path.read_text("utf-8"), parse_float=str)
    except FileNotFoundError:
        raise MissingData(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadFile(f"{path}: not a recipe in TOML: {error}") from None
    try:
        return _recipe(path, values)
    except InvalidArgument as error:
        raise type(error)(f"{path}: {error}") from None


def _recipe(path: Path, values: dict[str, Any]) -> Recipe:
    known = "title book epsilon delta split limit most confidence tables public question output synthetic running"
    _only(values, known, "a recipe")
    for name in ("book", "epsilon", "tables", "question"):
        if name not in values:
            raise InvalidArgument(f"a recipe states {name}: nothing private has a default")
    split = _one_of(values.get("split", "weights"), "split", SPLITS)
    tables = {name: _table(name, each, path.parent) for name, each in _mapping(values["tables"], "tables").items()}
    questions = tuple(_question(each, values, tables) for each in _list(values["question"], "question"))
    titles = [each.title for each in questions]
    if len(set(titles)) < len(titles):
        raise InvalidArgument(f"two questions are called {max(titles, key=titles.count)!r}: give each its own title")
    return Recipe(
        path,
        str(values.get("title", path.stem)),
        str(values["book"]),
        {name: str(values[name]) for name in ("epsilon", "delta") if name in values},
        split,
        _number(values.get("confidence", "0.95"), "confidence"),
        tables,
        {name: _public(name, each, path.parent) for name, each in _mapping(values.get("public", {}), "public").items()},
        questions,
        _output(_mapping(values.get("output", {"csv": True, "statement": "html"}), "output")),
        _synthetic(values["synthetic"], values) if "synthetic" in values else None,
        tuple(_running(each, values, tables) for each in values.get("running", ())),
    )


def _table(name: str, values: object, folder: Path) -> TableEntry:
    stated = _mapping(values, f"tables.{name}")
    _only(stated, "source schema table part", f"tables.{name}")
    if not {"source", "schema"} <= set(stated):
        raise InvalidArgument(f"tables.{name} states source, a file or an address, and schema, a file")
    part = None if "part" not in stated else _part(_mapping(stated["part"], f"tables.{name}.part"), name)
    source = _beside(str(stated["source"]), folder)
    return TableEntry(source, folder / str(stated["schema"]), stated.get("table"), part)


def _part(stated: Mapping[str, Any], name: str) -> PartEntry:
    if set(stated) != {"column", "cells", "cell"}:
        raise InvalidArgument(
            f"tables.{name}.part states column, such as 'admitted.month', cells, how many of them a person keeps rows "
            "in, and cell, the one that is asked"
        )
    return PartEntry(str(stated["column"]), stated["cells"], str(stated["cell"]))


def _public(name: str, values: object, folder: Path) -> tuple[str, str]:
    stated = _mapping(values, f"public.{name}")
    if set(stated) != {"source", "on"}:
        raise InvalidArgument(f"public.{name} states source, a file, and on, the column that names its rows")
    return _beside(str(stated["source"]), folder), str(stated["on"])


def _question(values: object, recipe: dict[str, Any], tables: Mapping[str, TableEntry]) -> QuestionEntry:
    stated = _mapping(values, "question")
    _only(stated, "title sql from by ask where limit most weight within for_groups_of totals", "a question")
    title = str(stated.get("title", ""))
    if not title:
        raise InvalidArgument("each question states a title, which its files and sheets are called by")
    limit = stated.get("limit", recipe.get("limit"))
    within = stated.get("within")
    if recipe.get("split") == "errors" and within is None:
        raise InvalidArgument(f"{title!r}: split = 'errors' needs within = ..., the error that the question must reach")
    return QuestionEntry(
        title,
        sql_of(stated, tuple(tables), partial(_person_of, tables)),
        None if limit is None else Limit(**_mapping(limit, "limit")),
        stated.get("most", recipe.get("most")),
        _weight(stated.get("weight", 1), title),
        None if within is None else _number(within, "within"),
        stated.get("for_groups_of"),
        _one_of(stated.get("totals", "plain"), "totals", TOTALS),
    )


def _person_of(tables: Mapping[str, TableEntry], name: str) -> str | None:
    if name not in tables:
        raise InvalidArgument(f"from = {name!r}: there is no such table; there are {', '.join(tables)}")
    person = read_schema(Path(tables[name].schema)).person
    return None if person == EACH_ROW else person


def _price(stated: Mapping[str, Any], what: str) -> dict[str, str]:
    if not {"epsilon", "delta"} <= set(stated):
        raise InvalidArgument(f"{what} states epsilon and delta of its own: it is paid for by itself")
    return {name: str(stated[name]) for name in ("epsilon", "delta")}


def _limit_of(stated: Mapping[str, Any], recipe: Mapping[str, Any]) -> Limit | None:
    limit = stated.get("limit", recipe.get("limit"))
    return None if limit is None else Limit(**_mapping(limit, "limit"))


def _synthetic(values: object, recipe: dict[str, Any]) -> SyntheticEntry:
    stated = _mapping(values, "synthetic")
    settings = ("mode", "size", "expected_rows", "edges", "impossible", "predict")
    _only(stated, " ".join(("table columns epsilon delta limit", *settings)), "synthetic")
    if "table" not in stated:
        raise InvalidArgument("synthetic states table, the one whose patterns the invented rows keep")
    given = {name: stated[name] for name in settings if name in stated}
    if not all(isinstance(each, list) for each in _mapping(given.get("edges", {}), "edges").values()):
        raise InvalidArgument("synthetic.edges lists the least value of each further cell: { age = [30, 60] }")
    if "impossible" in given:
        given["impossible"] = [_mapping(each, "impossible") for each in _list(given["impossible"], "impossible")]
    request = SynthesisRequest(stated.get("columns"), _limit_of(stated, recipe), **given)
    return SyntheticEntry(str(stated["table"]), _price(stated, "synthetic"), request)


def _running(values: object, recipe: dict[str, Any], tables: Mapping[str, TableEntry]) -> RunningEntry:
    stated = _mapping(values, "running")
    _only(stated, "name sql from by ask where limit most times apart periods period epsilon delta", "running")
    missing = [name for name in ("name", "periods", "period") if name not in stated]
    if missing:
        raise InvalidArgument(
            f"running states {missing[0]}: name, periods (how many are paid for) and period, this one"
        )
    return RunningEntry(
        str(stated["name"]),
        sql_of(stated, tuple(tables), partial(_person_of, tables)),
        _limit_of(stated, recipe),
        stated.get("most", recipe.get("most")),
        stated.get("times"),
        stated.get("apart", 1),
        stated["periods"],
        str(stated["period"]),
        _price(stated, "running"),
    )


def _weight(value: object, title: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidArgument(f"{title!r}: weight={value!r} must be a whole number from 1")
    return value


def _output(stated: Mapping[str, Any]) -> dict[str, bool | str]:
    _only(stated, " ".join(OUTPUTS), "output")
    for name, value in stated.items():
        kinds = OUTPUTS[name]
        if isinstance(kinds, tuple) and value is not False and value not in kinds:
            raise InvalidArgument(f"output.{name} = {value!r}; choose among {', '.join(kinds)}, or false")
        if kinds is True and not isinstance(value, bool):
            raise InvalidArgument(f"output.{name} = {value!r} must be true or false")
    return {name: value for name, value in stated.items() if value is not False}


def _beside(source: str, folder: Path) -> str:
    return source if "://" in source else str(folder / source)


def _only(values: Mapping[str, Any], known: str, what: str) -> None:
    odd = sorted(set(values) - set(known.split()))
    if odd:
        raise InvalidArgument(f"{what} has no {odd[0]!r}; it has {', '.join(known.split())}")


def _one_of(value: object, name: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise InvalidArgument(f"{name} = {value!r}; choose among {', '.join(allowed)}")
    return str(value)


def _mapping(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidArgument(f"{name} is a table of TOML, such as {{ rows = 3 }}")
    return value


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InvalidArgument(f"{name}s are written as [[{name}]], at least one")
    return value


def _number(value: object, name: str) -> float:
    try:
        return float(str(value))
    except (TypeError, ValueError):
        raise InvalidArgument(f"{name} = {value!r} must be a number") from None
