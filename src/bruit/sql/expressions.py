"""Translates SQL expressions over one row into a plan's typed expressions and conditions."""

from __future__ import annotations

from sqlglot import exp

from bruit.errors import InvalidArgument
from bruit.sql.refusals import refuse_nodes, unknown_function
from bruit.tables.plan.expressions import Condition, Expression, labelled, number_of, when
from bruit.tables.plan.kinds import Labels
from bruit.tables.plan.operators import Plan
from bruit.tables.schema import YesNo

PARTS = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "WEEK": "week", "DAY": "day",
}  # fmt: skip
EXTRACTS = {
    "YEAR": "year", "MONTH": "month_of_year", "ISODOW": "weekday", "HOUR": "hour",
}  # fmt: skip
COMPARISONS: dict[type[exp.Expr], str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.EQ: "="}
MOMENTS = ("date", "timestamp", "timestamptz", "timestampntz", "datetime")
TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "="}


def expression_of(node: exp.Expr, plan: Plan) -> Expression:
    """Translates an SQL expression over one row into a typed expression of the plan."""
    refuse_nodes(node)
    match node:
        case exp.Column():
            return plan[node.name]
        case exp.Paren() | exp.Alias():
            return expression_of(node.this, plan)
        case exp.Literal():
            return number_of(node.name)
        case exp.Neg():
            return expression_of(node.this, plan) * -1
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            return _arithmetic(node, plan)
        case exp.Floor():
            return expression_of(node.this, plan).floor()
        case exp.Case():
            return _case(node, plan)
        case exp.DateTrunc() | exp.TimestampTrunc():
            return expression_of(node.this, plan).part(_part(node.args["unit"], PARTS))
        case exp.Extract():
            return expression_of(node.expression, plan).part(_part(node.this, EXTRACTS))
    raise unknown_function(node)


def condition_of(node: exp.Expr, plan: Plan) -> Condition:
    """Translates an SQL condition over one row into a condition of the plan."""
    refuse_nodes(node)
    match node:
        case exp.Column():
            return _is_yes(expression_of(node, plan), yes=True)
        case exp.Paren():
            return condition_of(node.this, plan)
        case exp.And() | exp.Or():
            left, right = condition_of(node.left, plan), condition_of(node.right, plan)
            return left & right if isinstance(node, exp.And) else left | right
        case exp.Not():
            return ~condition_of(node.this, plan)
        case exp.NEQ():
            return ~_compared(node.left, "=", node.right, plan)
        case exp.Between():
            low, high = node.args["low"], node.args["high"]
            return _compared(node.this, ">=", low, plan) & _compared(node.this, "<=", high, plan)
        case exp.In():
            return expression_of(node.this, plan).among(_listed(node))
    if type(node) in COMPARISONS:
        return _compared(node.this, COMPARISONS[type(node)], node.expression, plan)
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        missing = expression_of(node.this, plan).is_missing
        return ~missing if node.args.get("negate") else missing  # PostgreSQL's IS NOT NULL; NOT stands around others
    raise unknown_function(node)


def _listed(node: exp.In) -> list[object]:
    """The constants of a list."""
    values = [constant_of(each) for each in node.expressions]
    if not values or None in values:
        raise InvalidArgument("IN needs a list of numbers or texts")
    return values


def constant_of(node: exp.Expr) -> object:
    """The text or number of an SQL literal; None where the node is not a literal."""
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.to.is_type(*MOMENTS):
        return node.this.name
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
        return "-" + node.this.name
    return node.name if isinstance(node, exp.Literal) else None


def _compared(left: exp.Expr, sign: str, right: exp.Expr, plan: Plan) -> Condition:
    if isinstance(left, exp.Boolean) or (constant_of(left) is not None and constant_of(right) is None):
        left, sign, right = right, TURNED[sign], left
    value = expression_of(left, plan)
    if isinstance(right, exp.Boolean) and sign == "=":
        return _is_yes(value, yes=bool(right.this))
    other = constant_of(right)
    against: object = other if other is not None else expression_of(right, plan)
    compare = {">": value.__gt__, ">=": value.__ge__, "<": value.__lt__, "<=": value.__le__, "=": value.equals}
    return compare[sign](against)


def _is_yes(value: Expression, *, yes: bool) -> Condition:
    """The condition that a yes-or-no column alone is, or its comparison with TRUE or FALSE."""
    if not isinstance(value.kind, Labels) or value.kind.labels != YesNo.labels:
        raise InvalidArgument(f"{value.words} is no yes or no: write what it is compared with")
    return value.equals(YesNo.labels[yes])


def _arithmetic(node: exp.Binary, plan: Plan) -> Expression:
    left = expression_of(node.left, plan)
    number = constant_of(node.right)
    right = expression_of(node.right, plan) if number is None else str(number)
    if isinstance(node, exp.Add):
        return left + right
    if isinstance(node, exp.Sub):
        return left - right
    if isinstance(node, exp.Mul):
        return left * right
    if node.args.get("typed") and left.numbers.grid.denominator == 1 and str(number).lstrip("-").isdigit():
        raise InvalidArgument(
            f"{left.words} / {number} is rounded in this dialect: divide by a number with a point, such as 2.0"
        )
    return left / right  # type: ignore[operator]


def _case(node: exp.Case, plan: Plan) -> Expression:
    if node.this is not None:
        raise InvalidArgument("CASE column WHEN is written as CASE WHEN column = ... here")
    cases = [(condition_of(each.this, plan), each.args["true"]) for each in node.args["ifs"]]
    default = node.args.get("default")
    if all(isinstance(value, exp.Literal) and value.is_string for _, value in cases):
        if default is not None and not (isinstance(default, exp.Literal) and default.is_string):
            raise InvalidArgument(f"CASE with texts and ELSE {default.sql()}: write a text after ELSE too")
        otherwise = "OTHER" if default is None else default.name
        return labelled([(condition, value.name) for condition, value in cases], otherwise=otherwise)
    found = None if default is None or isinstance(default, exp.Null) else expression_of(default, plan)
    for condition, value in reversed(cases):
        found = when(condition, expression_of(value, plan), found)
    assert found is not None
    return found


def _part(unit: exp.Expr, known: dict[str, str]) -> str:
    name = unit.name.upper()
    if name not in known:
        raise InvalidArgument(f"{name} is no part of a date here; there are {', '.join(known).lower()}")
    return known[name]
