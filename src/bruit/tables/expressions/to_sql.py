"""Compiles integer expressions to the SQL of DuckDB or Spark."""

from __future__ import annotations

from dataclasses import dataclass

from bruit.tables.expressions.nodes import (
    Among,
    Binary,
    Coalesce,
    Constant,
    Field,
    If,
    IsMissing,
    Node,
    Not,
    TextNumber,
)
from bruit.tables.expressions.to_polars import MODULUS


@dataclass(frozen=True)
class Dialect:
    """The ways in which an engine's SQL differs: quoting, integer division, hashing."""

    name: str

    @property
    def spark(self) -> bool:
        """Whether this is Spark's dialect."""
        return self.name == "spark"

    def identifier(self, name: str) -> str:
        """The quoted name of a column."""
        mark = "`" if self.spark else '"'
        return mark + name.replace(mark, mark * 2) + mark

    def text(self, value: str) -> str:
        """A quoted text literal; Spark interprets backslashes, DuckDB does not."""
        if self.spark:
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return "'" + value.replace("'", "''") + "'"

    def binary(self, sign: str, left: str, right: str) -> str:
        """The SQL of a binary operation; integer division is written `div` in Spark."""
        return f"({left} {'DIV' if sign == '//' and self.spark else sign} {right})"

    def text_number(self, text: str, key: str) -> str:
        """The first 60 bits of SHA-256(key, text) modulo 2^31 - 1."""
        salted = f"({self.text(key)} || {text})"  # missing where the text is: DuckDB's concat would skip it
        if self.spark:
            return f"(CAST(conv(substr(sha2({salted}, 256), 1, 15), 16, 10) AS BIGINT) % {MODULUS})"
        return f"(CAST('0x' || substr(sha256({salted}), 1, 15) AS BIGINT) % {MODULUS})"


DUCKDB = Dialect("duckdb")
SPARK = Dialect("spark")


def to_sql(node: Node, dialect: Dialect) -> str:
    """Compiles a node to SQL with every operation in brackets and every constant 64 bits wide."""
    match node:
        case Field(name):
            return dialect.identifier(name)
        case Constant(value):
            return "CAST(NULL AS BIGINT)" if value is None else f"CAST({value} AS BIGINT)"
        case Binary(sign, left, right):
            return dialect.binary(sign, to_sql(left, dialect), to_sql(right, dialect))
        case Not(condition):
            return f"(NOT {to_sql(condition, dialect)})"
        case IsMissing(value):
            return f"({to_sql(value, dialect)} IS NULL)"
        case If(condition, then, otherwise):
            parts = (to_sql(part, dialect) for part in (condition, then, otherwise))
            return "(CASE WHEN {} THEN {} ELSE {} END)".format(*parts)
        case Coalesce(value, otherwise):
            return f"coalesce({to_sql(value, dialect)}, {to_sql(otherwise, dialect)})"
        case Among(value, choices):
            return _among(to_sql(value, dialect), choices)
        case TextNumber(Field(name), key):
            return dialect.text_number(dialect.identifier(name), key)
    raise TypeError(node)


def _among(text: str, choices: tuple[int, ...]) -> str:
    """Whether a number is in a list; in an empty one none is, and a missing number stays missing."""
    return f"({text} IN ({', '.join(map(str, choices))}))" if choices else f"({text} <> {text})"
