"""The error of a statistic against ε, beside the sampling error."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtri

from bruit import DECILES, central, local
from bruit.apps.web.explorer.figure import Axis, Curve, Figure, Tool
from bruit.apps.web.explorer.parameters import Choice, Number, Values
from bruit.apps.web.explorer.relations import NEIGHBOURS, python_name
from bruit.core.neighbours import Neighbours
from bruit.core.numbers import exactly
from bruit.tables import within

EPSILONS = tuple(f"{value:.3g}" for value in np.geomspace(0.01, 10, 31))

STATISTIC = Choice(
    "statistic",
    "Statistic",
    "mean",
    (
        ("count", "How many people say yes"),
        ("mean", "Mean of a number"),
        ("sum", "Sum of a number"),
        ("quantiles", "Nine deciles"),
    ),
)
PEOPLE = Number("people", "People", "10000", 10, 1e7, 1, 1e10, "One row each: a public number.", whole=True)
HIGH = Number("high", "Upper bound", "100", 1, 1e6, 1, 1e9, "Of the number; the lower one is 0.", whole=True)
EPSILON = Number("epsilon", "ε", "1", 0.01, 10, 0.0001, 100, "The price of the statistic.")
CONFIDENCE = Choice("confidence", "Confidence", "0.95", (("0.9", "90 %"), ("0.95", "95 %"), ("0.99", "99 %")))
UNITS = {"count": "people", "mean": "units of the number", "sum": "units of the number", "quantiles": "ranks"}


def figure(values: Values) -> Figure:
    """The error under central and local noise against ε, beside the sampling error."""
    axis = [float(each) for each in EPSILONS]
    noise, here = [_noise(values, each) for each in EPSILONS], _noise(values, values["epsilon"])
    sampled = sampling(values)
    curves = [Curve("noise of a curator", axis, noise), Curve("sampling", axis, [sampled] * len(axis), dashed=True)]
    if values["statistic"] != "quantiles":
        curves.append(Curve("noise on each answer, with sampling", axis, [_local(values, each) for each in EPSILONS]))
    epsilon, unit = float(exactly(values["epsilon"], "ε")), UNITS[values["statistic"]]
    return Figure(
        title=f"Error against ε: {dict(STATISTIC.options)[values['statistic']].lower()}",
        x=Axis("ε", log=True),
        y=Axis(f"error, in {unit}", log=True),
        curves=tuple(curves),
        facts=(
            ("noise of a curator", f"± {here:.4g}"),
            ("sampling, at its worst", f"± {sampled:.4g}"),
            ("ε at which noise equals sampling", _balance(values, sampled)),
        ),
        sentence=f"At ε = {epsilon:g} noise moves the answer by {here:.4g} {unit}; that these people and no others are "
        f"in the table moves it by up to {sampled:.4g}.",
        point=(epsilon, here),
    )


def sampling(values: Values) -> float:
    """The worst-case sampling error: half the people say yes, or hold the upper bound.

    z sqrt(n) / 2 of a count, times the bound of a sum, over n of a mean; for a rank the mean, sqrt(2 / pi) sqrt(n) / 2
    """
    people, high = int(values["people"]), float(values["high"])
    spread = sqrt(people) / 2
    if values["statistic"] == "quantiles":
        return spread * sqrt(2 / pi)
    wide = float(ndtri((1 + float(values["confidence"])) / 2)) * spread
    return {"count": wide, "sum": wide * high, "mean": wide * high / people}[values["statistic"]]


def code(values: Values) -> str:
    """A Python program that computes the same numbers as the figure."""
    told = ", ".join(f"{name}={text}" for name, text in _error_arguments(values, as_text=True).items())
    return (
        "import bruit\n\n"
        f"for epsilon in {list(EPSILONS)!r}:\n"
        f"    print(epsilon, bruit.central.expected_error({values['statistic']!r}, epsilon=epsilon, {told}))\n"
    )


def _error_arguments(values: Values, *, as_text: bool = False) -> dict[str, Any]:
    """The keyword arguments of `expected_error`, as values or as Python source."""
    statistic, high = values["statistic"], values["high"]
    asked: dict[str, tuple[Any, str]] = {
        "neighbours": (Neighbours(values["neighbours"]), python_name(values["neighbours"])),
        "confidence": (float(values["confidence"]), values["confidence"]),
    }
    if statistic in ("mean", "sum"):
        asked["domain"] = (within(0, high, grid=1), f"bruit.tables.within(0, {high}, grid=1)")
    if statistic == "mean":
        asked["expected_size"] = (int(values["people"]), values["people"])
    if statistic == "quantiles":
        asked["probabilities"] = (DECILES, "bruit.DECILES")
    return {name: pair[as_text] for name, pair in asked.items()}


def _noise(values: Values, epsilon: str) -> float:
    return central.expected_error(values["statistic"], epsilon=epsilon, **_error_arguments(values))


def _local(values: Values, epsilon: str) -> float:
    people, confidence = int(values["people"]), float(values["confidence"])
    if values["statistic"] == "count":
        return people * local.Warner(epsilon=epsilon).expected_error(people, confidence=confidence)
    mean = local.OneBitMean(0, values["high"], grid=1, epsilon=epsilon).expected_error(people, confidence=confidence)
    return mean if values["statistic"] == "mean" else people * mean


def _balance(values: Values, sampled: float) -> str:
    from bruit.errors import InvalidArgument

    try:
        return f"{float(central.epsilon_for(values['statistic'], error=sampled, **_error_arguments(values))):.3g}"
    except InvalidArgument:
        return "none: noise comes in whole steps"


TOOL = Tool(
    name="accuracy",
    title="Noise and accuracy",
    lead="What a statistic is worth at each ε: the noise that protects people, beside the chance of whom you asked.",
    parameters=(STATISTIC, PEOPLE, HIGH, EPSILON, CONFIDENCE, NEIGHBOURS),
    figure=figure,
    code=code,
)
