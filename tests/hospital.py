"""An invented hospital: its stays as one table, written as the files that people really have."""

from datetime import date, datetime, timedelta
from pathlib import Path

import polars as pl
import xlsxwriter

WARDS = ("Cardiologie", "Gériatrie", "Urgences")
CITIES = ("Lyon", "Nice", "Aix-en-Provence")
PATIENTS = 240
MOST_STAYS = 20


def stays() -> pl.DataFrame:
    """One row a stay; ward, sex, age, city and length belong to the patient, so that means are known exactly."""
    rows = []
    for i in range(PATIENTS):
        city = f"Hameau {i}" if i % 40 == 0 else CITIES[i % 3]
        for stay in range(1 + i * 7 % MOST_STAYS):
            admitted = date(2025, 1, 1) + timedelta(days=(37 * i + 53 * stay) % 365)
            cost = 50 + (i * 173 + stay * 911) % 4900 + 0.5
            rows.append((f"P{i:04}", WARDS[i % 3], "FM"[i % 2], i % 90, city, admitted, i * 7 % 31, cost))
    names = ["patient", "ward", "sex", "age", "city", "admitted", "days", "cost"]
    return pl.DataFrame(rows, schema=names, orient="row")


SCHEMA = """
name = "stays"
person = "patient"
[file]
kind = "{kind}"
{facts}
[columns.patient]
type = "text"
[columns.ward]
type = "category"
values = ["Cardiologie", "Gériatrie", "Urgences"]
[columns.sex]
type = "category"
values = ["F", "M"]
others = "drop"
[columns.age]
type = "number"
low = 0
high = 120
grid = 1
[columns.city]
type = "found"
longest = 80
[columns.admitted]
type = "date"
format = "dd/mm/yyyy"
first = "2025-01-01"
last = "2025-12-31"
outside = "drop"
[columns.days]
type = "number"
low = 0
high = 60
grid = 1
[columns.cost]
type = "number"
low = 0
high = 5000
grid = 0.5
strip = ["€"]
"""

FRENCH = 'separator = ";"\nencoding = "windows-1252"\ndecimal = ","\ncomplete = true'
SHEET = 'decimal = ","\nthousands = " "'


def schema_text(kind: str = "csv", facts: str = FRENCH) -> str:
    """The schema of the stays for one kind of file."""
    return SCHEMA.format(kind=kind, facts=facts)


def write_french_csv(path: Path, frame: pl.DataFrame) -> Path:
    """As a French Excel exports it: semicolons, decimal commas, windows-1252, and no line break at the end."""
    lines = [";".join(frame.columns)]
    lines += [";".join(map(_french, row)) for row in frame.iter_rows()]
    path.write_bytes("\r\n".join(lines).encode("windows-1252"))
    return path


def write_sheet(path: Path, frame: pl.DataFrame) -> Path:
    """A real workbook: costs as numbers or as texts with thousands and €, dates as dates or as texts."""
    book = xlsxwriter.Workbook(str(path))
    sheet, as_date = book.add_worksheet(), book.add_format({"num_format": "dd/mm/yyyy"})
    sheet.write_row(0, 0, frame.columns)
    for number, row in enumerate(frame.iter_rows(), 1):
        for column, (name, value) in enumerate(zip(frame.columns, row, strict=True)):
            if name == "cost" and number % 2:
                whole, cents = divmod(round(value * 100), 100)
                sheet.write_string(number, column, f"{whole:,}".replace(",", " ") + f",{cents:02} €")
            elif name == "admitted" and number % 3:
                sheet.write_datetime(number, column, datetime(value.year, value.month, value.day), as_date)
            elif name == "admitted":
                sheet.write_string(number, column, f"{value:%d/%m/%Y}")
            else:
                sheet.write(number, column, value)
    book.close()
    return path


def _french(value: object) -> str:
    if isinstance(value, date):
        return f"{value:%d/%m/%Y}"
    return f"{value:.2f}".replace(".", ",") if isinstance(value, float) else str(value)
