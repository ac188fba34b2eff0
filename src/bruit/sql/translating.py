"""Translates a SELECT into a question (keys and measures) and what is computed from the answer for free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp

from bruit.central.questions import (
    Levels,
    Limit,
    Measure,
    Question,
    count,
    cube,
    distinct,
    mean,
    non_missing,
    people,
    quantiles,
    rollup,
    total,
    variance,
)
from bruit.errors import InvalidArgument
from bruit.sql.expressions import condition_of, constant_of, expression_of
from bruit.sql.options import take_options
from bruit.sql.refusals import refuse_clauses, refuse_ignored, refuse_nodes
from bruit.sql.rows import AGGREGATES, Rows, Tables
from bruit.tables import Registered
from bruit.tables.plan.expressions import Expression, number_of, when
from bruit.tables.plan.operators import Plan

MEANS = (exp.Avg,)
LEVELS = (exp.Rollup, exp.Cube, exp.GroupingSets)
KINDS = ("rollup", "cube", "grouping_sets")
VARIANCES = (exp.Variance, exp.VariancePop)
DEVIATIONS = (exp.Stddev, exp.StddevPop, exp.StddevSamp)


DEEPEST = 500
"""How many parts of a query may stand inside each other: a plan takes fewer, and longer ones take minutes to refuse."""

TOO_DEEP = "the query is nested too deeply: use fewer brackets, and IN (...) instead of many conditions"


@dataclass(frozen=True, eq=False)
class Translated:
    """A question, and the SQL expression over its keys and measures for each selected column."""

    question: Question
    selected: tuple[tuple[str, exp.Expr], ...]
    measured: dict[str, str]
    """The column of the answer that holds each statistic, by its SQL: its measure, and of a quantile its share."""

    keyed: dict[str, str]
    having: exp.Expr | None
    order: tuple[tuple[str, bool], ...]
    first: int | None

    def measure_of(self, sql: str) -> str:
        """The name of the question's measure that answers an SQL aggregate."""
        return self.measured[sql].partition(" ")[0]

    @property
    def deviations(self) -> frozenset[str]:
        """The SQL of the selected standard deviations, whose measure is a variance."""
        return frozenset(each.sql() for _, node in self.selected for each in node.find_all(*DEVIATIONS))


def translate(
    query: str, tables: Tables, *, limit: Limit | None, dialect: str = "duckdb", most: int | None = None, **more: Any
) -> Translated:
    """Translates a query into a question, or refuses it with the nearest question that is answered; reads nothing."""
    query, options = take_options(query, dialect)
    try:
        tree = sqlglot.parse_one(query, read=dialect)
    except sqlglot.errors.SqlglotError:
        raise InvalidArgument(
            "the query cannot be parsed: check its brackets, commas and quotes, or say its dialect"
        ) from None
    except RecursionError:
        raise InvalidArgument(TOO_DEEP) from None
    if _is_deeper_than(tree, DEEPEST):
        raise InvalidArgument(TOO_DEEP)
    if isinstance(tree, exp.Union | exp.Intersect | exp.Except):
        raise InvalidArgument("UNION removes equal rows of different people: UNION ALL inside FROM")
    if not isinstance(tree, exp.Select):
        raise InvalidArgument("only SELECT is a question")
    refuse_ignored(tree)
    plans = {name: each.plan if isinstance(each, Registered) else each for name, each in tables.items()}
    try:
        plan = Rows(plans, most).with_names(tree).source(tree)
        options.require_person(plan.person)
        return _Translation(tree, plan).translated(options.limit(limit), more)
    except RecursionError:
        raise InvalidArgument(TOO_DEEP) from None


def _is_deeper_than(tree: exp.Expr, most: int) -> bool:
    """Whether more than `most` parts of a query stand inside each other; AND and + of many parts do."""
    level = [tree]
    for _ in range(most):
        level = [child for node in level for child in node.iter_expressions()]
    return bool(level)


class _Translation:
    def __init__(self, select: exp.Select, plan: Plan) -> None:
        self.select, self.plan = select, plan
        self.measures: dict[str, Measure] = {}
        self.measured: dict[str, str] = {}
        self.keys: dict[str, Expression] = {}
        self.keyed: dict[str, str] = {}
        self.levels: Levels | None = None

    def translated(self, limit: Limit | None, more: dict[str, Any]) -> Translated:
        if self.select.args.get("distinct"):
            raise InvalidArgument("DISTINCT shows values as they stand: GROUP BY finds those above a threshold")
        self._keys()
        selected = tuple((each.alias_or_name or each.sql(), each.unalias()) for each in self.select.expressions)
        for _, node in selected:
            refuse_nodes(node)
        for _, node in selected:
            if not self._is_key(node):
                self._measures(node)
        if not self.measures:
            raise InvalidArgument("no statistic is selected: select count(*), sum, avg or a quantile")
        names = [name for name, _ in selected]
        if len(set(names)) < len(names):
            raise InvalidArgument(f"{max(names, key=names.count)!r} is selected twice: give each column a name with AS")
        ends = [name for name in names for end in ("low", "high") if f"{name} {end}" in names]
        if ends:
            raise InvalidArgument(
                f"'{ends[0]} low' and '{ends[0]} high' name the interval of {ends[0]!r}: rename a column"
            )
        having = self._having(dict(selected))
        order, first = self._order(names), self._first()
        question = Question(self.plan, self.measures, self.keys, limit, levels=self.levels, **more)
        return Translated(question, selected, self.measured, self.keyed, having, order, first)

    def _having(self, selected: dict[str, exp.Expr]) -> exp.Expr | None:
        """The condition on noisy numbers, names of selected columns written out; checked before anything is paid."""
        clause = self.select.args.get("having")
        if clause is None:
            return None

        def written(node: exp.Expr) -> exp.Expr:
            return selected[node.name].copy() if isinstance(node, exp.Column) and node.name in selected else node

        condition: exp.Expr = clause.this.transform(written)
        self._check_having(condition)
        return condition

    def _check_having(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Paren):
            self._check_having(node.this)
        elif isinstance(node, exp.And | exp.Or):
            self._check_having(node.left)
            self._check_having(node.right)
        elif isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE):
            self._check_number(node.this)
            self._check_number(node.expression)
        else:
            raise InvalidArgument(f"HAVING {node.sql()}: compare selected statistics with numbers by <, <=, > or >=")

    def _check_number(self, node: exp.Expr) -> None:
        if node.sql() in self.measured or (isinstance(node, exp.Literal) and not node.is_string):
            return
        if isinstance(node, AGGREGATES):
            raise InvalidArgument(
                f"HAVING compares noisy numbers: select {node.sql().lower()} too, so that it is paid for"
            )
        if not isinstance(node, exp.Paren | exp.Neg | exp.Add | exp.Sub | exp.Mul | exp.Div):
            raise InvalidArgument(f"HAVING {node.sql()}: compare selected statistics with numbers")
        for part in (node.this, node.args.get("expression")):
            if part is not None:
                self._check_number(part)

    def _order(self, names: list[str]) -> tuple[tuple[str, bool], ...]:
        clause, order = self.select.args.get("order"), []
        for each in clause.expressions if clause else ():
            if not isinstance(each.this, exp.Column) or each.this.name not in names:
                raise InvalidArgument(f"ORDER BY {each.this.sql()}: order by the name of a selected column")
            order.append((each.this.name, bool(each.args.get("desc"))))
        return tuple(order)

    def _first(self) -> int | None:
        clause = self.select.args.get("limit")
        if clause is None:
            return None
        if not isinstance(clause.expression, exp.Literal) or not clause.expression.is_int:
            raise InvalidArgument("LIMIT needs a whole number")
        return int(clause.expression.name)

    def _keys(self) -> None:
        group = self.select.args.get("group")
        if group is None:
            return
        refuse_clauses(group, {"expressions", *KINDS}, "GROUP BY")
        plain = [each for each in group.expressions if not isinstance(each, LEVELS)]
        first = tuple(self._key(each) for each in plain)
        nested = [each for kind in KINDS for each in group.args.get(kind) or []]
        if any(not each.expressions or (plain and isinstance(each, exp.GroupingSets)) for each in nested):
            raise InvalidArgument(
                "keys before WITH ROLLUP, WITH CUBE or GROUPING SETS: write all of them inside, as ROLLUP (ward, sex)"
            )
        grouped = [each for each in group.expressions if isinstance(each, LEVELS)] + nested
        if len(grouped) > 1:
            raise InvalidArgument(
                "GROUP BY with several ROLLUP, CUBE or GROUPING SETS: write the levels in one of them"
            )
        if grouped:
            self.levels = tuple((*first, *level) for level in self._grouped(grouped[0]))

    def _grouped(self, node: exp.Expr) -> Levels:
        """The sets of keys of ROLLUP, CUBE or GROUPING SETS."""
        if isinstance(node, exp.GroupingSets):
            sets = [each.expressions if isinstance(each, exp.Tuple) else [each.unnest()] for each in node.expressions]
            return tuple(tuple(self._key(each) for each in one) for one in sets)
        if any(isinstance(each, exp.Tuple) for each in node.expressions):
            raise InvalidArgument(f"{node.key.upper()} of lists in brackets: write its levels as GROUPING SETS")
        names = [self._key(each) for each in node.expressions]
        return rollup(*names) if isinstance(node, exp.Rollup) else cube(*names)

    def _key(self, each: exp.Expr) -> str:
        """The name of a key, which is added to those of the question."""
        names = {one.alias: one.unalias() for one in self.select.expressions if one.alias}
        node = each
        if isinstance(each, exp.Literal):
            node = self._place(each)
        elif isinstance(each, exp.Column) and each.name not in self.plan.columns and each.name in names:
            node = names[each.name]
        inner = node.unalias()
        name = node.alias or next((alias for alias, own in names.items() if own == inner), inner.sql())
        self.keys[name] = expression_of(inner, self.plan)
        self.keyed[inner.sql()] = name
        return name

    def _place(self, number: exp.Literal) -> exp.Expr:
        """The selected column that GROUP BY names by its place."""
        place = int(number.name) if number.is_int else 0
        if not 1 <= place <= len(self.select.expressions):
            raise InvalidArgument(f"GROUP BY {number.sql()}: there are {len(self.select.expressions)} selected columns")
        chosen: exp.Expr = self.select.expressions[place - 1]
        return chosen

    def _is_key(self, node: exp.Expr) -> bool:
        return node.sql() in self.keyed or (isinstance(node, exp.Column) and node.name in self.keyed.values())

    def _measures(self, node: exp.Expr) -> None:
        """Every statistic inside a selected expression; what is outside of one must be a number."""
        if isinstance(node, exp.Literal):
            if node.is_string:
                raise InvalidArgument(f"{node.sql()} is a text: select keys, statistics and numbers")
            return
        if isinstance(node, (exp.Filter, exp.WithinGroup, *AGGREGATES)):
            if node.sql() not in self.measured:
                self.measured[node.sql()] = self._added(self._measure(node, None))
            return
        if isinstance(node, exp.Paren | exp.Neg):
            self._measures(node.this)
            return
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
            self._measures(node.left)
            self._measures(node.right)
            return
        if self._is_key(node):
            raise InvalidArgument(f"{node.sql()} is the label of a group: nothing can be computed with it")
        refuse_nodes(node)
        if isinstance(node, exp.Star):
            raise InvalidArgument("SELECT * shows records: select statistics")
        expression_of(node, self.plan)
        raise InvalidArgument(f"{node.sql()} would show a record: put it in GROUP BY or inside a statistic")

    def _added(self, measure: Measure) -> str:
        """The column of the answer that a measure has; quantiles of one value are one measure, drawn together."""
        name = f"m{len(self.measures)}"
        if measure.what != "quantiles":
            self.measures[name] = measure
            return name
        assert measure.value is not None
        for other, held in self.measures.items():
            if held.what == "quantiles" and held.value is not None and held.value.node == measure.value.node:
                name, shares = other, {*held.probabilities, *measure.probabilities}
                measure, asked = quantiles(measure.value, sorted(shares)), measure
                break
        else:
            asked = measure
        self.measures[name] = measure
        return f"{name} {asked.columns[0]}"

    def _measure(self, node: exp.Expr, condition: exp.Expr | None) -> Measure:
        if isinstance(node, exp.Filter):
            return self._measure(node.this, node.expression.this)
        if isinstance(node, exp.WithinGroup):
            [ordered] = node.expression.expressions
            if ordered.args.get("desc"):
                raise InvalidArgument("WITHIN GROUP (ORDER BY ... DESC): ask for one minus the share, without DESC")
            return quantiles(self._value(ordered.this, condition), [self._share(node.this.this)])
        if isinstance(node, exp.Count):
            return self._count(node.this, condition)
        value = self._value(node.this, condition)
        if isinstance(node, exp.Sum):
            return total(value)
        if isinstance(node, MEANS):
            return mean(value)
        if isinstance(node, (*VARIANCES, *DEVIATIONS)):
            return variance(value)
        asked = node.args.get("quantile") or node.args.get("expression")
        share = "0.5" if isinstance(node, exp.Median) or asked is None else self._share(asked)
        return quantiles(value, [share])

    def _count(self, what: exp.Expr | None, condition: exp.Expr | None) -> Measure:
        if isinstance(what, exp.Distinct):
            names = [each.name for each in what.expressions]
            if self.plan.person in names:
                if len(names) > 1 or condition is not None:
                    raise InvalidArgument("COUNT(DISTINCT person) stands alone: count people, or group")
                return people()
            if len(names) > 1:
                raise InvalidArgument("COUNT(DISTINCT ...) of several columns is not answered: count one, or group")
            return distinct(self._value(what.expressions[0], condition))
        if what is None or isinstance(what, exp.Star) or what.name == self.plan.person:
            if condition is None:
                return count()
            return non_missing(when(condition_of(condition, self.plan), number_of(1), None))
        return non_missing(self._value(what, condition))

    def _value(self, node: exp.Expr, condition: exp.Expr | None) -> Expression:
        if isinstance(node, exp.Distinct):
            raise InvalidArgument("a statistic of DISTINCT values depends on other people's values: leave DISTINCT out")
        value = expression_of(node, self.plan)
        return value if condition is None else when(condition_of(condition, self.plan), value, None)

    def _share(self, node: exp.Expr) -> str:
        found = constant_of(node)
        if found is None:
            raise InvalidArgument("the share of a quantile must be a number, such as 0.9")
        return str(found)
