"""Schemas: what is stated about a table before it is read (columns, person, dates, file format)."""

from bruit.tables.schema.builders import category, date, found, long, number, text, time, whole, yesno
from bruit.tables.schema.columns import (
    Category,
    ColumnType,
    Date,
    Declared,
    Found,
    Number,
    Text,
    Time,
    Whole,
    YesNo,
)
from bruit.tables.schema.files import File, csv, excel, parquet
from bruit.tables.schema.statement import Schema

__all__ = [
    "Category",
    "ColumnType",
    "Date",
    "Declared",
    "File",
    "Found",
    "Number",
    "Schema",
    "Text",
    "Time",
    "Whole",
    "YesNo",
    "category",
    "csv",
    "date",
    "excel",
    "found",
    "long",
    "number",
    "parquet",
    "text",
    "time",
    "whole",
    "yesno",
]
