"""Parses BigQuery's SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (...), which is cut out before the query is parsed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sqlglot
from sqlglot import Token, TokenType

from bruit.central.questions import Limit
from bruit.core.numbers import exactly
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, Ledger

NAMES = ("epsilon", "delta", "max_rows_contributed", "max_groups_contributed", "privacy_unit_column")


@dataclass(frozen=True)
class Options:
    """The epsilon, delta, limit and person's column that a query's OPTIONS state; None for what is left out."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rows: int | None = None
    groups: int | None = None
    person: str | None = None

    def limit(self, stated: Limit | None) -> Limit | None:
        """The limit from the query's OPTIONS or from the argument; refused where both are given and differ."""
        if self.rows is not None and self.groups is not None:
            raise InvalidArgument(
                "max_rows_contributed and max_groups_contributed are two different limits: state one of them"
            )
        if stated is None and self.groups is not None:
            raise InvalidArgument(
                f"max_groups_contributed={self.groups}: say too how many rows count in each of these groups, "
                f"limit=Limit(groups={self.groups}, each=...)"
            )
        if stated is None:
            return None if self.rows is None else Limit(rows=self.rows)
        if (self.rows or stated.rows, self.groups or stated.groups) != (stated.rows, stated.groups):
            raise InvalidArgument(f"the query states another limit than limit={stated}: state it once")
        return stated

    def budget(self, stated: Budget | Ledger | None) -> Budget | None:
        """The budget from the query's OPTIONS and a ledger, or the argument; refused where the two differ."""
        if self.epsilon is None and self.delta is not None:
            raise InvalidArgument("the query states a delta without an epsilon: state both")
        if isinstance(stated, Ledger):
            return None if self.epsilon is None else stated.budget(epsilon=self.epsilon, delta=self.delta)
        if stated is None or self.epsilon is None:
            return stated
        if (self.epsilon, self.delta or 0) != (stated.epsilon, stated.delta):
            raise InvalidArgument("the query states another epsilon or delta than budget=...: state the price once")
        return stated

    def require_person(self, person: str) -> None:
        """Refuses a privacy_unit_column other than the person's column of the registered table."""
        if self.person not in (None, person):
            raise InvalidArgument(
                f"privacy_unit_column={self.person}: the rows of this table belong to {person!r}, as it was registered"
            )


def take_options(query: str, dialect: str) -> tuple[str, Options]:
    """Cuts the DIFFERENTIAL_PRIVACY clause out of a query; returns the rest of the query and the options."""
    try:
        tokens = sqlglot.tokenize(query, read=dialect)
    except sqlglot.errors.SqlglotError:
        return query, Options()
    starts = [place for place in range(len(tokens) - 2) if _begins(tokens[place : place + 3])]
    if not starts:
        return query, Options()
    if len(starts) > 1:
        raise InvalidArgument("WITH DIFFERENTIAL_PRIVACY is stated twice: once, in the outermost SELECT")
    after = starts[0] + 3
    stated, last = _options(tokens[after:])
    cut = query[: tokens[starts[0]].end + 1] + query[tokens[after + last - 1].end + 1 :]
    return cut, _checked(stated)


def _begins(tokens: list[Token]) -> bool:
    return (
        tokens[0].token_type == TokenType.SELECT
        and tokens[1].token_type == TokenType.WITH
        and tokens[2].text.upper() == "DIFFERENTIAL_PRIVACY"
    )


def _options(tokens: list[Token]) -> tuple[dict[str, str], int]:
    """The options in brackets and how many tokens they take: OPTIONS ( name = value, ... )."""
    if not tokens or tokens[0].text.upper() != "OPTIONS":
        return {}, 0
    closing = next((i for i, each in enumerate(tokens) if each.token_type == TokenType.R_PAREN), None)
    if closing is None or tokens[1].token_type != TokenType.L_PAREN:
        raise InvalidArgument("OPTIONS needs a list in brackets: OPTIONS (epsilon = 0.5, max_rows_contributed = 3)")
    inner, stated = tokens[2:closing], dict[str, str]()
    for start in range(0, len(inner), 4):
        name, value = _pair(inner[start : start + 4])
        if name not in NAMES:
            raise InvalidArgument(f"{name} is no option that is known; there are {', '.join(NAMES)}")
        if name in stated:
            raise InvalidArgument(f"{name} is stated twice: state each option once")
        stated[name] = value
    return stated, closing + 1


def _pair(tokens: list[Token]) -> tuple[str, str]:
    """The name and the value of name = value, and a comma where more follows."""
    kinds = [each.token_type for each in tokens]
    if len(kinds) < 3 or kinds[1] != TokenType.EQ or kinds[3:] not in ([], [TokenType.COMMA]):
        raise InvalidArgument("OPTIONS are written as name = value, with commas between them")
    return tokens[0].text.lower(), tokens[2].text


def _checked(stated: dict[str, str]) -> Options:
    prices = {name: exactly(stated[name], name) for name in ("epsilon", "delta") if name in stated}
    numbers = {name: stated[name] for name in ("max_rows_contributed", "max_groups_contributed") if name in stated}
    for name, text in numbers.items():
        if not text.isascii() or not text.isdigit():
            raise InvalidArgument(f"{name} = {text} must be a whole number")
    rows, groups = (numbers.get(name) for name in ("max_rows_contributed", "max_groups_contributed"))
    return Options(
        prices.get("epsilon"),
        prices.get("delta"),
        None if rows is None else int(rows),
        None if groups is None else int(groups),
        stated.get("privacy_unit_column"),
    )
