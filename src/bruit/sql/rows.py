"""Translates what a query reads (tables, joins, lookups, unions, summaries per person) into a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from bruit.errors import InvalidArgument
from bruit.sql.expressions import condition_of, expression_of
from bruit.sql.refusals import refuse_clauses
from bruit.tables import Registered
from bruit.tables.plan.expressions import Expression
from bruit.tables.plan.operators import Plan

AGGREGATES = (
    exp.Count, exp.Sum, exp.Avg, exp.Variance, exp.VariancePop, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Median,
    exp.Quantile, exp.PercentileCont, exp.PercentileDisc, exp.ApproxQuantile,
)  # fmt: skip
CLAUSES = {
    "expressions", "from_", "from", "joins", "where", "group", "having", "order", "limit", "with_", "with", "distinct",
}  # fmt: skip
"""The clauses of a SELECT that are understood."""

SUMMARIES: dict[type[exp.Expr], str] = {exp.Sum: "sum", exp.Avg: "mean", exp.Min: "least", exp.Max: "greatest"}


@dataclass(frozen=True)
class PublicTable:
    """A public lookup table: for each column, its value for each value of `on`."""

    on: str
    columns: Mapping[str, Mapping[object, Any]]


Tables = Mapping[str, Plan | PublicTable | Registered]
"""The tables that a query may name: plans, registered tables, and public ones to look values up in."""


@dataclass(frozen=True)
class Rows:
    """Translates the FROM part of a query into a plan; `most` bounds the rows of a person in joins and summaries."""

    tables: Mapping[str, Plan | PublicTable]
    most: int | None = None
    named: Mapping[str, Plan] = field(default_factory=dict)

    def with_names(self, query: exp.Expr) -> Rows:
        """A translator that also knows the subqueries named by WITH."""
        clause = query.args.get("with_") or query.args.get("with")
        if clause is None:
            return self
        if clause.args.get("recursive"):
            raise InvalidArgument("WITH RECURSIVE has no bound on what one person can change")
        reader = self
        for each in clause.expressions:
            reader = replace(reader, named={**reader.named, each.alias: reader.rows(each.this)})
        return reader

    def source(self, select: exp.Select) -> Plan:
        """The plan behind FROM, with its joins and its WHERE."""
        refuse_clauses(select, CLAUSES, "a SELECT")
        clause = select.args.get("from_") or select.args.get("from")
        if clause is None:
            raise InvalidArgument("no table is named after FROM")
        plan = self._table(clause.this)
        if isinstance(plan, PublicTable):
            raise InvalidArgument("this table is public: ask the engine itself, nothing is to be paid")
        joins = select.args.get("joins") or []
        for join in joins:
            plan = self._joined(plan, join)
        named = [clause.this, *(join.this for join in joins)]
        _require_owners(select, {each.alias_or_name: self._table(each) for each in named})
        where = select.args.get("where")
        return plan if where is None else plan.where(condition_of(where.this, plan))

    def rows(self, query: exp.Expr) -> Plan:
        """The plan of a subquery that gives rows: columns kept or derived row by row, or one row per person."""
        if isinstance(query, exp.Union):
            if query.args.get("distinct"):
                raise InvalidArgument("UNION removes equal rows of different people: UNION ALL inside FROM")
            left, right = self.rows(query.left), self.rows(query.right)
            if list(left.columns) != list(right.columns) and set(left.columns) == set(right.columns):
                raise InvalidArgument("UNION ALL pairs columns by their places: select them in the same order")
            return left.stack(right)
        if not isinstance(query, exp.Select):
            raise InvalidArgument(
                f"{query.key.upper()} compares rows of people: use UNION ALL, joins on the person and conditions"
            )
        if query.args.get("having") or query.args.get("with_") or query.args.get("with"):
            raise InvalidArgument("HAVING and WITH inside FROM are not answered: filter rows, or released numbers")
        if query.args.get("limit"):
            raise InvalidArgument("LIMIT of rows chooses people by the order of the file: filter by a declared column")
        if query.args.get("distinct"):
            raise InvalidArgument("DISTINCT removes equal rows of different people: leave it out")
        plan = self.source(query)
        if query.args.get("group") or any(each.find(*AGGREGATES) for each in query.expressions):
            return self._per_person(query, plan)
        return _selected(query, plan)

    def _table(self, node: exp.Expr) -> Plan | PublicTable:
        if isinstance(node, exp.Subquery):
            return self.rows(node.this)
        name = node.name
        if name in self.named:
            refuse_clauses(node, {"this", "alias"}, "FROM")
            return self.named[name]
        if isinstance(node, exp.Table):
            refuse_clauses(node, {"this", "alias"}, "FROM")
        if not isinstance(node, exp.Table) or name not in self.tables:
            raise InvalidArgument(f"no table {node.sql()!r} was registered; there are {', '.join(self.tables)}")
        return self.tables[name]

    def _joined(self, plan: Plan, join: exp.Join) -> Plan:
        refuse_clauses(join, {"this", "side", "kind", "using", "on"}, "a join")
        other = self._table(join.this)
        using = [each.name for each in join.args.get("using") or []] or _equal_columns(join.args.get("on"))
        side, kind = (str(join.args.get(name) or "").upper() for name in ("side", "kind"))
        if side in ("FULL", "RIGHT"):
            raise InvalidArgument(f"{side} JOIN makes rows that belong to nobody: use JOIN or LEFT JOIN")
        if kind not in ("", "INNER", "OUTER", "CROSS"):
            raise InvalidArgument(f"{kind} JOIN is not answered: use JOIN or LEFT JOIN, or a condition on the rows")
        if isinstance(other, PublicTable):
            if using != [other.on]:
                raise InvalidArgument(f"a public table is joined on the column that names its rows, USING ({other.on})")
            twice = sorted(set(other.columns) & set(plan.columns))
            if twice:
                raise InvalidArgument(f"both tables have a column {twice[0]!r}: give one of them another name")
            return plan.lookup(other.columns, on=other.on, outer=side == "LEFT")
        if using != [plan.person]:
            raise InvalidArgument("two private tables are joined on the person only")
        return plan.join(other, most=(self._most("a join"),) * 2, outer=side == "LEFT")

    def _per_person(self, query: exp.Select, plan: Plan) -> Plan:
        group = query.args.get("group")
        if group is not None:
            refuse_clauses(group, {"expressions"}, "GROUP BY of a summary per person")
        keys = [each.name for each in group.expressions] if group else []
        if keys != [plan.person]:
            raise InvalidArgument("a statistic of a statistic: the inner query must be GROUP BY the person alone")
        summaries: dict[str, tuple[str, str] | str] = {}
        rows = plan
        for each in query.expressions:
            inner = each.unalias()
            if isinstance(inner, exp.Column) and inner.name == plan.person:
                continue
            if isinstance(inner, exp.Count) and isinstance(inner.this, exp.Star):
                summaries[each.alias_or_name] = "count"
                continue
            if type(inner) not in SUMMARIES:
                raise InvalidArgument(
                    f"{inner.sql()} is no summary of a person: count(*), sum, avg, min or max of a column"
                )
            value = inner.this
            made = value.name if isinstance(value, exp.Column) else f"{each.alias_or_name} of a row"
            rows = rows if made in plan.columns else rows.with_(**{made: expression_of(value, plan)})
            summaries[each.alias_or_name] = (SUMMARIES[type(inner)], made)
        return rows.per_person(most=self._most("a summary per person"), **summaries)

    def _most(self, what: str) -> int:
        if self.most is None:
            raise InvalidArgument(f"{what} needs most=...: how many rows of a person it keeps")
        return self.most


def _selected(query: exp.Select, plan: Plan) -> Plan:
    """The columns that a query keeps or derives; the person stays the person, under its own name."""
    kept: list[str] = []
    made: dict[str, Expression] = {}
    for each in query.expressions:
        inner, name = each.unalias(), each.alias_or_name
        if isinstance(inner, exp.Star):
            kept += plan.columns
        elif isinstance(inner, exp.Column) and inner.name == plan.person:
            if name != plan.person:
                raise InvalidArgument(f"{plan.person!r} says whose row it is, and keeps its name")
        else:
            value = expression_of(inner, plan)
            kept.append(name)
            if not isinstance(inner, exp.Column) or inner.name != name:
                made[name] = value
    if len(set(kept)) < len(kept):
        raise InvalidArgument(f"{max(kept, key=kept.count)!r} is selected twice: give each column a name with AS")
    rows = plan.with_(**made)
    return replace(rows, columns={name: rows.columns[name] for name in kept})


def _require_owners(select: exp.Select, tables: Mapping[str, Plan | PublicTable]) -> None:
    """Refuses a column that is said to be of a table which does not have it."""
    for column in select.find_all(exp.Column):
        if not column.table or column.find_ancestor(exp.Select) is not select:
            continue
        table = tables.get(column.table)
        if table is None:
            raise InvalidArgument(f"{column.sql()}: no table {column.table!r} stands after FROM")
        own = table.on if isinstance(table, PublicTable) else table.person
        if column.name not in (own, *table.columns) and not isinstance(column.this, exp.Star):
            raise InvalidArgument(f"{column.sql()}: {column.table!r} has no such column that a question can read")


def _equal_columns(condition: exp.Expr | None) -> list[str]:
    """The columns of one name that a join says are equal; none where it says something else."""
    if not isinstance(condition, exp.EQ):
        return []
    left, right = condition.left, condition.right
    if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
        return []
    return [left.name] if left.name == right.name and left.table != right.table else []
