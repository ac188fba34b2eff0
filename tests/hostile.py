"""Cells that have broken readers: each must be read by itself, whatever holds it."""

import datetime as dt
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np


class Strange:
    """An object whose every method fails: nothing of it may be called."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise RuntimeError("str")

    __repr__ = __float__ = __int__ = __bool__ = __eq__ = __len__ = __str__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class StrangeNumber(np.float64):
    """A number of NumPy's whose class says something else of it."""

    def item(self, *_args: object) -> float:
        raise RuntimeError("item")


TEXTS = [
    "", " ", "NA", "null", "None", "nan", "NaN", "inf", "-Infinity", "1e308", "1e999", "-1e999", "9" * 400,
    "1" * 19, "1" * 20, "True", "true", "oui", "OUI", "1", "1.0", "01", "+7", "-0", "1e5", "3,014.38",
    "3 014,38", "3\u00a0014,38", "3\u202f014,38 €", "12,5", "12.5", "1.234", ".5", "5.", "5e", "1d", "0x1F",
    "1_000", "٣", "１２", "--1", "+-1", "1 2", "\t7\n", "a", "A", "é", "e\u0301", "\ufeffa", "a\x00b", "\x00",
    "x" * 5_000, "😀", "OTHER", "Lyon", "lyon ", "31/12/2025", "1/1/2025", "31/02/2025", "29/02/2024",
    "29/02/2025", "00/00/0000", "31/12/0000", "99/99/9999", "2025-07-01", "2025-07-01 23:59:59",
    "2025-07-01T08:00:00.5", "01/07/2025 08:30", "01/07/2025 24:00", "' OR 1=1 --", '"', "a\nb", "=1+1",
    "9007199254740991", "9007199254740992", "-9007199254740993", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "2147483654", "5", "2147483652", "45658", "45700,5", "45700.5", "04570", "45700.", "456580",
]  # fmt: skip

INTEGERS = [0, 1, -1, 7, 2**31, 2**53 - 1, 2**53, -(2**53), 2**60, 2**63 - 1, -(2**63)]
FLOATS = [
    0.0,
    -0.0,
    0.5,
    1.0,
    7.25,
    -3.0,
    1e308,
    -1e308,
    5e-324,
    float("inf"),
    float("-inf"),
    float("nan"),
    2.0**53,
    1e22,
]
DAYS = [dt.date(2025, 1, 1), dt.date(2025, 12, 31), dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 7, 20)]
TIMES = [
    dt.datetime(2025, 3, 30, 2, 30),
    dt.datetime(2025, 10, 26, 2, 30, 59, 999_999),
    dt.datetime(1, 1, 1),
    dt.datetime(9999, 12, 31, 23, 59, 59),
    dt.datetime(1969, 12, 31, 23, 59, 59, 500_000),
]
ZONED = [dt.datetime(2025, 3, 30, 0, 59, 59, tzinfo=dt.UTC), dt.datetime(2025, 7, 1, 8, tzinfo=ZoneInfo("Asia/Tokyo"))]
OBJECTS = [
    None, True, False, *INTEGERS, 2**70, -(10**400), *FLOATS, Decimal("7"), Decimal("1.5"), Decimal("NaN"),
    Decimal("sNaN"), Decimal("1e400"), np.int64(7), np.uint64(2**64 - 1), np.float32(0.5), np.bool_(True),
    np.str_("Lyon"), np.longdouble(7), np.longdouble("1e4000"), np.clongdouble(7), StrangeNumber(7),
    np.datetime64("NaT"), np.datetime64("2025-07-01"), np.datetime64("290000-01-01"), *DAYS,
    *TIMES, *ZONED, b"Lyon", b"\xff", "\ud800", [1], {"a": 1}, (1, 2), Strange(), 1 + 2j, dt.timedelta(1),
]  # fmt: skip

BYTES = [b"Lyon", b"\xff", b"\xc3", b"\x00", b"\xed\xa0\x80", b"7", b"", b"x" * 5_000, b'"', b"a\xffb"]

LONGEST = "x" * 1_000_000
"""A cell of a megabyte: only a few tables are given it."""

LISTED = [
    None, float("nan"), float("inf"), float("-inf"), 1e308, 2**63 - 1, "True", "1e5", "3,014.38", b"\xff", "\ud800",
    dt.datetime(9999, 12, 31, 23, 59, 59), "31/12/10000", "", "\x00", {"a": 1}, [1], True, "2147483654",
]  # fmt: skip
"""The records that must never move another: what the gate tries on every holder."""
