"""Exports answers as CSV (without formulas), Excel, Parquet, JSON or figures, by file extension."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bruit.apps.extras import require_extras
from bruit.apps.steward.answers import AnswerTable
from bruit.apps.steward.charts import svg_of
from bruit.apps.steward.csv_safety import csv_of
from bruit.errors import InvalidArgument

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

ENDINGS = (".csv", ".parquet", ".xlsx", ".json", ".svg", ".png")

LONGEST_SHEET = 31
"""Letters in the name of an Excel sheet."""


def check_ending(path: Path) -> None:
    """Refuses an unknown file extension, or one whose writer is not installed, before anything is paid."""
    if path.suffix.lower() not in ENDINGS:
        raise InvalidArgument(f"{path.name}: give a name that ends in {', '.join(ENDINGS)}")
    check_writable(path)
    needs = {".xlsx": "excel", ".png": "plot"}.get(path.suffix.lower())
    if needs is not None:
        require_extras(f"a file that ends in {path.suffix.lower()}", needs)


def check_writable(path: Path) -> None:
    """Refuses a path that no file can be written to, before anything is paid."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InvalidArgument(f"{path}: there is no folder {folder}")
    if path.is_dir():
        raise InvalidArgument(f"{path} is a folder: give the name of a file")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InvalidArgument(f"{path} may not be written by you: choose another folder")


def write_answer(answer: AnswerTable, path: Path, *, about: Sequence[tuple[str, str]] = ()) -> None:
    """Writes an answer in the format that the file extension names."""
    if path.suffix.lower() == ".png":
        _write_png(answer, path)
        return
    path.write_bytes(answer_bytes(answer, path.suffix.lower(), about=about))


def answer_bytes(answer: AnswerTable, suffix: str, *, about: Sequence[tuple[str, str]] = ()) -> bytes:
    """An answer as the bytes of a file of that extension."""
    if suffix == ".csv":
        return csv_of(answer.frame).encode()
    if suffix == ".json":
        return (json.dumps(finite(answer.to_json()), ensure_ascii=False, indent=2) + "\n").encode()
    if suffix == ".svg":
        return svg_of(answer).encode()
    if suffix == ".parquet":
        packed = io.BytesIO()
        answer.frame.write_parquet(packed)
        return packed.getvalue()
    return excel_bytes([answer], about)


def excel_bytes(answers: Sequence[AnswerTable], about: Sequence[tuple[str, str]]) -> bytes:
    """An Excel workbook: a first sheet with guarantee, limits and tables, then one sheet per answer.

    Texts are written as texts, so that none becomes a formula.
    """
    require_extras("Excel files", "excel")
    import xlsxwriter

    packed = io.BytesIO()
    book = xlsxwriter.Workbook(packed, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    bold, wrap = book.add_format({"bold": True}), book.add_format({"text_wrap": True, "valign": "top"})
    first = book.add_worksheet("About")
    first.set_column(0, 0, 24)
    first.set_column(1, 1, 110)
    for row, (name, text) in enumerate(about):
        first.write_string(row, 0, name, bold)
        first.write_string(row, 1, text, wrap)
    taken = {"about"}
    for answer in answers:
        sheet = book.add_worksheet(_sheet_name(answer.title, taken))
        _fill(sheet, answer, bold)
    book.close()
    return packed.getvalue()


def _fill(sheet: Worksheet, answer: AnswerTable, bold: Format) -> None:
    for column, name in enumerate(answer.frame.columns):
        sheet.set_column(column, column, max(12, min(len(name) + 2, 40)))
        sheet.write_string(0, column, name, bold)
    for row, cells in enumerate(answer.frame.iter_rows(), 1):
        for column, cell in enumerate(cells):
            if isinstance(cell, str):
                sheet.write_string(row, column, cell)
            elif isinstance(cell, int | float) and math.isfinite(cell):
                sheet.write_number(row, column, cell)


def _sheet_name(title: str, taken: set[str]) -> str:
    """A name that Excel allows and that no other sheet has."""
    plain = "".join(letter for letter in title if letter not in "[]:*?/\\'")[:LONGEST_SHEET].strip() or "answer"
    name, number = plain, 2
    while name.lower() in taken:
        name, number = f"{plain[: LONGEST_SHEET - 4]} {number}", number + 1
    taken.add(name.lower())
    return name


def _write_png(answer: AnswerTable, path: Path) -> None:
    from bruit.apps.plots import Bars, bars
    from bruit.apps.steward.charts import bars_of

    chart = bars_of(answer)[0]
    one = Bars(chart.title, chart.values, chart.low, chart.high)
    bars(path, chart.labels, [one], title=answer.title[:80], y=chart.title)


def finite(described: Mapping[str, object]) -> dict[str, object]:
    """The mapping with every number that JSON cannot hold (NaN, infinity) replaced by null."""
    return {key: _finite(value) for key, value in described.items()}


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
