"""Model cards: what a model is, its guarantee, what was paid, its intended use and its performance.

Everything on it is public: domains and parameters were stated before the data, figures are paid releases.
                                                                                        [Mitchell et al. 2019]
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from bruit.core.guarantee import Guarantee, guarantee_from_json, print_above
from bruit.core.neighbours import EACH_ROW, REPLACE_ONE
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.tables import Domain, Within

NOTHING_PROMISED = "Nothing is promised: the model was fitted without privacy and may tell of anyone in its data."


@dataclass(frozen=True)
class Figure:
    """One metric of the model, with its interval and its own privacy cost."""

    name: str
    value: float
    low: float
    high: float
    confidence: float
    covers: str
    guarantee: str


@dataclass(frozen=True)
class ModelCard:
    """A description of a fitted model that may be published beside it."""

    model: str
    columns: tuple[tuple[str, str], ...]
    predicts: str
    promise: str
    guarantee: Guarantee | None
    paid: str
    intended_use: str
    figures: tuple[Figure, ...]
    made_by: str

    @property
    def text(self) -> str:
        """The card in Markdown."""
        rows = [f"| {name} | {domain} |" for name, domain in self.columns]
        figures = [f"| {_line(each)} |" for each in self.figures]
        parts = [
            f"# {self.model}",
            f"Predicts: {self.predicts}. Made by {self.made_by}.",
            f"## Promise\n\n{self.promise}\n\nGuarantee: {self.guarantee or 'none'}. {self.paid}",
            f"## Intended use\n\n{self.intended_use or 'Not stated.'}",
            "\n".join(["## Columns, as declared before the data", "", "| column | domain |", "|---|---|", *rows]),
        ]
        if figures:
            head = [
                "## Figures, each of them paid for",
                "",
                "| figure | value | interval | guarantee |",
                "|---|---|---|---|",
            ]
            parts.append("\n".join([*head, *figures]))
        return "\n\n".join(parts) + "\n"

    def to_json(self) -> dict[str, Any]:
        """The card in JSON types."""
        held = {**asdict(self), "guarantee": None if self.guarantee is None else self.guarantee.to_json()}
        return {**held, "columns": [list(each) for each in self.columns], "figures": [asdict(f) for f in self.figures]}

    @staticmethod
    def from_json(described: dict[str, Any]) -> ModelCard:
        """The card that `to_json` described."""
        promised = described["guarantee"]
        return ModelCard(
            **{
                **described,
                "columns": tuple((str(name), str(domain)) for name, domain in described["columns"]),
                "guarantee": None if promised is None else guarantee_from_json(promised),
                "figures": tuple(Figure(**each) for each in described["figures"]),
            }
        )

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def make_card(model: Any, *, intended_use: str = "", figures: Sequence[Release[Any]] = ()) -> ModelCard:
    """The card of a fitted model; `figures` are releases such as those of `learning.evaluate`."""
    if not isinstance(intended_use, str):
        raise InvalidArgument(f"intended_use={intended_use!r} is no text: say in words what the model is for")
    promised = model.guarantee_
    return ModelCard(
        model=type(model).__name__,
        columns=_columns(model),
        predicts=_predicted(model),
        promise=promise(promised),
        guarantee=promised,
        paid=_paid(model, promised),
        intended_use=intended_use,
        figures=tuple(figure for release in figures for figure in _figures(release)),
        made_by=f"bruit {_version()}",
    )


def promise(guarantee: Guarantee | None) -> str:
    """A guarantee as one sentence in plain words."""
    if guarantee is None or math.isinf(guarantee.epsilon):
        return NOTHING_PROMISED
    whom = "one row" if guarantee.person == EACH_ROW else f"one person (a value of {guarantee.person!r})"
    change = "is exchanged for another" if guarantee.neighbours is REPLACE_ONE else "is in the data or not"
    factor = f"{math.exp(guarantee.epsilon):.4g}" if guarantee.epsilon < 20 else "e to the ε"
    beyond = f", but for a chance of {float(guarantee.delta):.3g} (δ)" if guarantee.delta else ""
    assumed = f" This assumes: {', '.join(guarantee.assumes)}." if guarantee.assumes else ""
    return (
        f"Whether {whom} {change} makes any conclusion from this model at most {factor} times as likely "
        f"(ε = {print_above(Fraction(guarantee.epsilon), digits=4)}){beyond}.{assumed}"
    )


def _paid(model: Any, promised: Guarantee | None) -> str:
    """What the book was charged, and which entry says so."""
    release = getattr(model, "_release", None)
    if promised is None or release is None or release.receipt is None:
        return "Nothing was paid."
    epsilon = print_above(Fraction(promised.epsilon), digits=4)
    delta = f", δ = {print_above(promised.delta, digits=3)}" if promised.delta else ""
    receipt = release.receipt
    return f"Paid: ε = {epsilon}{delta}, entry {receipt.number} of the book {receipt.book!r}."


def _columns(model: Any) -> tuple[tuple[str, str], ...]:
    domains = getattr(model, "_domains", None) or ()
    names = getattr(model, "feature_names_in_", None)
    named = [f"column {j}" for j in range(len(domains))] if names is None else [str(name) for name in names]
    return tuple((name, describe(domain)) for name, domain in zip(named, domains, strict=True))


def describe(domain: Domain) -> str:
    """A domain in words."""
    if isinstance(domain, Within):
        missing = "its row dropped" if domain.missing is None else f"read as {float(domain.missing):g}"
        return f"from {float(domain.low):g} to {float(domain.high):g} by {float(domain.grid):g}; missing: {missing}"
    rest = "others dropped" if domain.drop_others else "others together"
    shown = ", ".join(domain.values[:8]) + (f" and {len(domain.values) - 8} more" if len(domain.values) > 8 else "")
    return f"one of {shown}; {rest}"


def _predicted(model: Any) -> str:
    if hasattr(model, "classes_"):
        return "one of " + ", ".join(map(str, model.classes_))
    target = getattr(model, "target", None)
    return describe(target) if isinstance(target, Within) else "nothing: it describes the data"


def _figures(release: Release[Any]) -> list[Figure]:
    """A figure for each number of a release that has an interval."""
    if not isinstance(release, Release) or release.interval is None:
        raise InvalidArgument("figures= are releases with intervals: give what learning.evaluate(...) returned")
    values, low, high = (
        np.atleast_1d(each).reshape(-1) for each in (release.value, release.interval.low, release.interval.high)
    )
    names = release.labels or (release.method,)
    held = release.interval
    return [
        Figure(
            str(name),
            float(value),
            float(below),
            float(above),
            held.confidence,
            str(held.covers),
            str(release.guarantee),
        )
        for name, value, below, above in zip(names, values, low, high, strict=True)
    ]


def _line(figure: Figure) -> str:
    span = f"{figure.low:.4g} to {figure.high:.4g} ({figure.confidence:.0%}, {figure.covers})"
    return f"{figure.name} | {figure.value:.4g} | {span} | {figure.guarantee}"


def _version() -> str:
    try:
        return version("bruit")
    except PackageNotFoundError:
        return "(not installed)"
