"""A schema is the same value in Python, TOML and JSON, and refuses what describes no table."""

import json
from datetime import date as day
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.errors import BadFile, InvalidArgument, OutOfDomain
from bruit.privacy import EACH_ROW
from bruit.tables.schema import (
    Schema,
    category,
    csv,
    date,
    excel,
    found,
    long,
    number,
    parquet,
    text,
    time,
    whole,
    yesno,
)

HOSPITAL = """
name = "stays"
person = "patient"
[file]
kind = "csv"
separator = ";"
encoding = "windows-1252"
decimal = ","
thousands = " "
missing = ["", "NA", "NULL"]
complete = true
[columns.patient]
type = "text"
[columns."stay no"]
type = "whole"
[columns.ward]
type = "category"
values = ["Cardiologie", "Gériatrie", "Urgences"]
others = "OTHER"
[columns.cost]
type = "number"
low = 0
high = 50_000
grid = 0.1
strip = ["€"]
missing = "drop"
[columns.emergency]
type = "yesno"
yes = ["oui", "1", "true"]
no = ["non", "0", "false"]
[columns.admitted]
type = "date"
format = "dd/mm/yyyy"
first = 2025-01-01
last = 2025-12-31
outside = "drop"
[columns.city]
type = "found"
longest = 80
"""

COLUMNS = {
    "patient": text(),
    "stay no": whole(),
    "ward": category(["Cardiologie", "Gériatrie", "Urgences"]),
    "cost": number(0, 50_000, grid=0.1, strip=["€"]),
    "emergency": yesno(yes=["oui", "1", "true"], no=["non", "0", "false"]),
    "admitted": date(format="dd/mm/yyyy", first=day(2025, 1, 1), last="2025-12-31", outside="drop"),
    "city": found(longest=80),
}


def hospital(**changes: Any) -> Schema:
    facts = csv(
        separator=";", encoding="windows-1252", decimal=",", thousands=" ", missing=["", "NA", "NULL"], complete=True
    )
    values: dict[str, Any] = {"name": "stays", "person": "patient", "file": facts, "columns": COLUMNS}
    return Schema(**(values | changes))


def test_toml_json_and_python_state_the_same_schema() -> None:
    stated = Schema.from_toml(HOSPITAL)
    assert stated == hospital()
    assert Schema.from_toml(stated.to_toml()) == stated
    assert Schema.from_json(json.dumps(stated.to_json())) == stated
    assert stated.digest == hospital().digest
    assert hash(stated) == hash(hospital())
    assert stated.found == ("city",)


def test_another_statement_has_another_digest() -> None:
    changed = [
        hospital(name="visits"),
        hospital(file=csv(separator=";")),
        hospital(columns=COLUMNS | {"cost": number(0, 50_000, grid=1, strip=["€"])}),
        hospital(columns=COLUMNS | {"ward": category(["Cardiologie", "Gériatrie", "Urgences"], others="drop")}),
    ]
    assert len({hospital().digest, *(schema.digest for schema in changed)}) == 5


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
labels = names.map(str.strip).filter(lambda label: label and label not in ("drop", "OTHER", "nearest"))


@settings(max_examples=30)
@given(
    names.filter(lambda name: name != EACH_ROW),
    st.lists(labels, min_size=1, unique=True),
    st.integers(-1000, 1000),
    st.integers(1, 1000),
    st.sampled_from([1, "0.1", "1/3", 7]),
    labels,
)
def test_every_schema_survives_toml_and_json(
    name: str, values: list[str], low: int, width: int, grid: Any, other: str
) -> None:
    numbers = number(low * 7, (low + width) * 7, grid=grid, missing=low * 7, strip=[other])
    days = date(first="1999-02-01", last="2001-03-01", outside=other)
    clock = time(
        format="dd.mm.yyyy HH:MM", first="2025-03-01", last="2025-04-01", zone="Europe/Paris", outside="nearest"
    )
    columns: dict[Any, Any] = {name: category(values, others="drop"), "x": numbers, "d": days, "t": clock, "l": long()}
    schema = Schema(EACH_ROW, columns, name=name)
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_json(json.dumps(schema.to_json())) == schema


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('person = "patient"\nperson = "x"', "overwrite"),
        ('person = "ward"', "person='ward' must be a column of type text, whole or long"),
        ('person = "nobody"', "person='nobody'"),
        ('person = "patient"\ncolour = 1', "no option 'colour'"),
    ],
)
def test_a_schema_that_states_no_table_is_refused(change: str, message: str) -> None:
    text_of_it = HOSPITAL.replace('person = "patient"', change, 1)
    with pytest.raises((InvalidArgument, BadFile), match=message):
        Schema.from_toml(text_of_it)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("high = 50_000", "high = -5", "column 'cost': low=0, high=-5: low must be below high"),
        ("grid = 0.1", "grid = 3", "grid=3 must be above zero and divide both bounds"),
        ("grid = 0.1", "grid = 0.0000001", "too fine"),
        ("grid = 0.1\n", "", "column 'cost' of type 'number' needs grid; its options are low, high"),
        (
            "grid = 0.1",
            "grid = 0.1\ncolour = 2",
            "column 'cost' of type 'number' has no option 'colour'; its options are low",
        ),
        ('type = "text"', 'type = "words"', "column 'patient': type='words'; choose among number"),
        ('type = "text"', 'type = ["text"]', r"column 'patient': type=\['text'\]; choose among number"),
        ('"Urgences"]', '"Cardiologie"]', "names a category twice"),
        ('others = "OTHER"', 'others = "Urgences"', "names a category twice, or one that `others` stands for"),
        ('no = ["non", "0", "false"]', 'no = ["1"]', "no text may stand in them twice"),
        ('"dd/mm/yyyy"', '"dd/mm"', "must hold each of dd, mm, yyyy once"),
        ('"dd/mm/yyyy"', '"dd of mm yyyy"', "only signs may stand"),
        ("first = 2025-01-01", "first = 2026-01-01", "the first one first"),
        ("longest = 80", "longest = 0", "from 1 to 1000"),
        ('decimal = ","', 'decimal = " "', "decimal=' '; choose among"),
        ('thousands = " "', 'thousands = ","', "thousands and decimal are both ','"),
        ('separator = ";"', 'separator = ";;"', "must be one ASCII sign"),
        ('encoding = "windows-1252"', 'encoding = "ebcdic"', "encoding='ebcdic'; choose among"),
        ("complete = true", "complete = true\nlines = 3", r"\[file\] has no option 'lines'"),
    ],
)
def test_an_option_that_describes_nothing_is_named(old: str, new: str, message: str) -> None:
    assert old in HOSPITAL
    with pytest.raises((InvalidArgument, OutOfDomain), match=message):
        Schema.from_toml(HOSPITAL.replace(old, new, 1))


def test_an_option_given_twice_in_json_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="'person' is given twice"):
        Schema.from_json('{"person": "a", "person": "b", "columns": {}}')


def test_each_row_is_no_name_of_a_column() -> None:
    with pytest.raises(InvalidArgument, match="may not be called 'each row'"):
        Schema(EACH_ROW, {EACH_ROW: text()})


def test_files_of_other_kinds() -> None:
    assert excel(sheet="Stays", header=3).to_json()["sheet"] == "Stays"
    assert parquet().kind == "parquet"
    with pytest.raises(InvalidArgument, match="cannot be told from the point of a number cell"):
        excel(thousands=".", decimal=",")
