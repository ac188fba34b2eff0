"""Kinds of direct identifiers, each with a pattern, a validity check, and its false-positive rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

import polars

from bruit.codes import Iban, Luhn, Nir, Siren, Siret

OLDEST = 120
"""Years: nobody alive was born earlier."""

SPREAD = 20
"""The years that nine dates of birth in ten span at least; dates of visits or invoices span fewer."""

Check = Callable[[polars.Series], polars.Series]
"""Whether each text of the right form passes."""


@dataclass(frozen=True)
class Identifier:
    """A kind of identifier: the pattern of its texts (separators removed) and the check that valid ones pass.

    Random characters of that form pass with probability `chance`: exact for check digits, dates and addresses; where
    the form itself is the evidence (addresses of e-mail, free text), it is a ceiling that we state.
    """

    name: str
    form: str
    chance: float
    check: Check
    compact: bool = True


def compacted(texts: polars.Series) -> polars.Series:
    """Texts in capitals without spaces, hyphens, dots, brackets and slashes."""
    return texts.str.replace_all(r"[ \-.()/]", "").str.to_uppercase()


def _every(texts: polars.Series) -> polars.Series:
    return polars.repeat(value=True, n=len(texts), eager=True)


def _matches(pattern: str) -> Check:
    return lambda texts: texts.str.contains(pattern)


def dates(texts: polars.Series) -> polars.Series:
    """Parses eight digits as dates, with the year, the day or the month first; null where none is valid."""
    frame = texts.alias("x").to_frame()
    today = date.today()
    forms = [polars.col("x").str.to_date(form, strict=False) for form in ("%Y%m%d", "%d%m%Y", "%m%d%Y")]
    possible = [polars.when((form >= date(today.year - OLDEST, 1, 1)) & (form <= today)).then(form) for form in forms]
    return frame.select(polars.coalesce(possible)).to_series()


def _born(texts: polars.Series) -> polars.Series:
    """Plausible dates of birth: within a lifetime, where they spread as dates of birth do."""
    found = dates(texts)
    years = found.dt.year().cast(polars.Float64)
    low, high = years.quantile(0.05), years.quantile(0.95)
    wide = low is not None and high is not None and high - low >= SPREAD
    return found.is_not_null() & wide


DAYS = 366 * (OLDEST + 1)
OCTET = r"(25[0-5]|2[0-4]\d|1?\d?\d)"

IDENTIFIERS = (
    Identifier("card number", r"^[2-6]\d{14,15}$", 1 / 10, Luhn().valid),
    Identifier("IBAN", r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$", 1 / 100, Iban().valid),
    Identifier("SIREN", r"^\d{9}$", 1 / 10, Siren().valid),
    Identifier("SIRET", r"^\d{14}$", float(Siret().chance), Siret().valid),
    Identifier("NIR", r"^[1-478]\d{4}(\d\d|2A|2B)\d{8}$", 1 / 100, Nir().valid),
    Identifier("phone number", r"^(\d{10}|(\+|00)\d{8,14})$", 9 / 100, _matches(r"^(0[1-9]\d{8}|(\+|00)[1-9]\d+)$")),
    Identifier("date of birth", r"^\d{8}$", 3 * DAYS / 10**8, _born),
    Identifier(
        "e-mail address",
        "@",
        1 / 100,
        _matches(r"[A-Za-z0-9._%+\-]+@[A-Za-z0-9\-]+(\.[A-Za-z0-9\-]+)*\.[A-Za-z]{2,}"),
        compact=False,
    ),
    Identifier(
        "IP address",
        r"^(\d{1,3}(\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){2,7})$",
        (256 / 1000) ** 4,
        _matches(rf"^({OCTET}(\.{OCTET}){{3}}|.*:.*)$"),
        compact=False,
    ),
    Identifier("free text", r"\S+\s+\S+\s+\S+\s+\S+\s+\S+", 1 / 2, _every, compact=False),
)
"""What a column is tried for."""
