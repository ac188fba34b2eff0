"""Refuses SQL that a private table cannot answer, by name and with the nearest question that it can."""

from __future__ import annotations

from sqlglot import exp

from bruit.errors import InvalidArgument

SENTENCES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("Window",), "a window compares people's rows: use a query grouped by the person, or group"),
    (("Max", "Min"), "{name} is decided by one person: ask for a high or low quantile"),
    (("ArrayAgg", "GroupConcat", "AnyValue", "First", "Last", "ArrayUniqueAgg", "List"), "{name} shows records"),
    (
        ("Like", "ILike", "RegexpLike", "SimilarTo"),
        "{name} is not the same on every engine: declare the categories it should match",
    ),
    (
        ("CurrentDate", "CurrentTimestamp", "CurrentTime", "Rand"),
        "today changes from one reading to the next: write the date",
    ),
    (
        ("Select", "Subquery", "Exists"),
        "a query inside a condition would read without paying: release it first, then write the number",
    ),
)
"""The sentence for each kind of node, by the names of sqlglot's classes."""

KNOWN: dict[str, tuple[str, set[str]]] = {
    "ApproxQuantile": ("an approximate quantile", {"this", "quantile"}),
    "Avg": ("AVG", {"this"}),
    "Between": ("BETWEEN", {"this", "low", "high"}),
    "CTE": ("WITH", {"this", "alias"}),
    "Case": ("CASE", {"this", "ifs", "default"}),
    "Cast": ("CAST", {"this", "to", "safe"}),
    "Column": ("a column", {"this", "table"}),
    "Count": ("COUNT", {"this", "big_int"}),
    "DateTrunc": ("DATE_TRUNC", {"this", "unit", "unabbreviate", "input_type_preserved"}),
    "Distinct": ("DISTINCT", {"expressions"}),
    "Floor": ("FLOOR", {"this"}),
    "In": ("IN", {"this", "expressions"}),
    "Is": ("IS", {"this", "expression", "negate"}),
    "Limit": ("LIMIT", {"expression"}),
    "Median": ("MEDIAN", {"this"}),
    "Ordered": ("ORDER BY", {"this", "desc", "nulls_first"}),
    "Star": ("SELECT *", set()),
    "Subquery": ("a query inside FROM", {"this", "alias"}),
    "Sum": ("SUM", {"this"}),
    "TableAlias": ("a table's new name", {"this"}),
    "TimestampTrunc": ("DATE_TRUNC", {"this", "unit", "unabbreviate", "input_type_preserved"}),
    "Union": ("UNION ALL", {"this", "expression", "distinct", "with_"}),
}
"""What is understood of each kind of node, by sqlglot's names: whatever else one holds is refused, never ignored."""


def refuse_ignored(tree: exp.Expr) -> None:
    """Raises where any node of a query says something that would not be read."""
    for node in tree.walk():
        what, known = KNOWN.get(type(node).__name__, ("", None))
        if known is not None:
            refuse_clauses(node, known, what)


def refuse_nodes(node: exp.Expr) -> None:
    """Raises where an expression holds an SQL construct that would differ between engines."""
    for inner in node.walk():
        for kinds, sentence in SENTENCES:
            if type(inner).__name__ in kinds:
                raise InvalidArgument(sentence.format(name=name_of(inner)))


def unknown_function(node: exp.Expr) -> InvalidArgument:
    """The error for an SQL function that is not supported."""
    if isinstance(node, exp.Anonymous):
        return InvalidArgument(
            f"there is no function {name_of(node)} here; a name with blanks or brackets stands in double quotes"
        )
    columns = ", ".join(dict.fromkeys(column.name for column in node.find_all(exp.Column)))
    return InvalidArgument(
        f"the function {name_of(node)} is not the same on every engine: compare {columns or 'a column'} itself"
    )


def name_of(node: exp.Expr) -> str:
    """The SQL name of a parsed node."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return node.sql_name() if isinstance(node, exp.Func) else node.key.upper()


def refuse_clauses(node: exp.Expr, known: set[str], what: str) -> None:
    """Raises where a query has a clause outside `known`; no clause is ever ignored."""
    odd = [name for name, value in node.args.items() if value and name not in known]
    if odd:
        raise InvalidArgument(f"{odd[0].strip('_').upper()} in {what} is not answered: leave it out")
