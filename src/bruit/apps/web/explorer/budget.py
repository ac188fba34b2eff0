"""The ε of a training run against each of its parameters.

[docs/spec.md S2.12]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars

from bruit.apps.web.explorer.figure import Axis, Curve, Figure, Tool
from bruit.apps.web.explorer.parameters import Choice, Number, Values
from bruit.apps.web.explorer.relations import NEIGHBOURS, python_name
from bruit.core.neighbours import Neighbours
from bruit.core.numbers import exactly
from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy import TrainingPlan, curve, order_curve, plan, sound_delta, training_loss

POINTS = 31
BESIDE = 8
"""The figure of noise and batch together has batches so many times smaller and larger than the chosen one."""

SIZE = Number("size", "Data set size", "60000", 100, 1e7, 1, 1e10, "Records to train on: a public number.", whole=True)
BATCH = Number("batch_size", "Batch size", "64", 1, 65_536, 1, 1e8, "Records a step takes, on average.", whole=True)
NOISE = Number(
    "noise", "Noise multiplier", "1.0", 0.3, 20, 0.2, 1000, "Its deviation over the bound on one record's gradient."
)
EPOCHS = Number("epochs", "Epochs", "15", 1, 1000, 1, 10_000, "Passes over the data.", whole=True)
DELTA = Number(
    "delta", "δ", "1e-5", 1e-10, 1e-2, 1e-15, 0.1, "The chance left to failure: well below one over the size."
)
SWEPT = {each.name: each for each in (SIZE, BATCH, NOISE, EPOCHS, DELTA)}
AGAINST = Choice(
    "against",
    "Draw ε against",
    "noise",
    (
        *((each.name, each.label) for each in SWEPT.values()),
        ("noise-batch", "Noise and batch size together"),
        ("order", "Rényi order"),
    ),
)
TITLES = {
    "size": "the size of the data set",
    "batch_size": "the batch size",
    "noise": "the noise",
    "epochs": "the number of epochs",
    "delta": "δ",
    "noise-batch": "noise and batch size",
    "order": "the Rényi order",
}
BY = Choice(
    "by",
    "Accountant",
    "pld",
    (("pld", "Privacy loss distribution"), ("rdp", "Rényi orders"), ("rdp-simple", "Rényi, simple conversion")),
    "How steps are added up; a tighter one finds a smaller ε for the same run.",
)


def figure(values: Values) -> Figure:
    """ε against the chosen parameter, with the other parameters as set."""
    found = plan(**_run_arguments(values), by=values["by"])
    drawn = {"order": _orders, "noise-batch": _noise_and_batch}.get(values["against"], _sweep_curve)
    x, point, curves = drawn(values, found)
    return Figure(
        title=f"ε against {TITLES[values['against']]}",
        x=x,
        y=Axis("ε", log=True),
        curves=tuple(curves),
        facts=_facts(found),
        sentence=f"This run costs ε = {found.epsilon:.4g} at δ = {found.delta:g}, in {found.steps} steps.",
        point=point,
        warning=_weak(found),
    )


def code(values: Values) -> str:
    """A Python program that computes the same numbers as the figure."""
    run = {name: repr(value) for name, value in _run_arguments(values).items() if name != "neighbours"}
    against = values["against"]
    head = f"import bruit\n\nneighbours = {python_name(values['neighbours'])}\n"
    if against == "order":
        told = ", ".join(f"{name}={value}" for name, value in run.items() if name != "delta")
        body = (
            f"loss = bruit.privacy.training_loss({told}, neighbours=neighbours)\n"
            f"frame = bruit.privacy.order_curve(loss, delta={run['delta']})\n"
        )
    else:
        for name, line in _grid(values).items():
            run[name] = repr(line)
        told = ", ".join(f"{name}={value}" for name, value in run.items())
        body = f"frame = bruit.privacy.curve({told}, neighbours=neighbours, by={values['by']!r})\n"
    return f"{head}{body}print(frame)\n"


def _run_arguments(values: Values) -> dict[str, Any]:
    whole = {name: int(values[name]) for name in ("size", "batch_size", "epochs")}
    exact = {"noise_multiplier": values["noise"], "delta": values["delta"]}
    return {**whole, **exact, "neighbours": Neighbours(values["neighbours"])}


def _argument(name: str) -> str:
    """The argument of `plan` and `curve` that a slider of the page sets."""
    return "noise_multiplier" if name == NOISE.name else name


def _sweep_curve(values: Values, found: TrainingPlan) -> tuple[Axis, tuple[float, float], list[Curve]]:
    name = values["against"]
    frame = _frame(values)
    curves = [Curve(dict(BY.options)[values["by"]], frame[_argument(name)].to_list(), frame["epsilon"].to_list())]
    return Axis(SWEPT[name].label, log=True), (float(exactly(values[name], name)), found.epsilon), curves


def _noise_and_batch(values: Values, found: TrainingPlan) -> tuple[Axis, tuple[float, float], list[Curve]]:
    frame = _frame(values)
    curves = [
        Curve(f"batch size {batch}", part["noise_multiplier"].to_list(), part["epsilon"].to_list())
        for (batch,), part in frame.group_by("batch_size", maintain_order=True)
    ]
    return Axis(NOISE.label, log=True), (found.noise_multiplier, found.epsilon), curves


def _orders(values: Values, found: TrainingPlan) -> tuple[Axis, tuple[float, float] | None, list[Curve]]:
    run = _run_arguments(values)
    delta = run.pop("delta")
    frame = order_curve(training_loss(**run), delta=delta)
    names = {"simple": "simple conversion", "improved": "improved conversion"}
    curves = [Curve(names[each], frame["order"].to_list(), frame[each].to_list()) for each in names]
    point = None if found.order is None else (found.order, found.epsilon)
    return Axis("Rényi order", log=True), point, curves


def _frame(values: Values) -> polars.DataFrame:
    try:
        return curve(**{**_run_arguments(values), **_grid(values)}, by=values["by"])
    except NotPrivate as error:
        raise InvalidArgument(f"{error} (move the sliders towards more noise or a larger data set)") from error


def _grid(values: Values) -> dict[str, Sequence[int] | Sequence[str]]:
    """The values of whatever varies."""
    if values["against"] == "noise-batch":
        batch, size = int(values["batch_size"]), int(values["size"])
        batches = {max(batch // BESIDE, 1), batch, min(batch * BESIDE, size)}
        return {"noise_multiplier": _texts(NOISE.low, NOISE.high, POINTS // 2), "batch_size": sorted(batches)}
    moved = SWEPT[values["against"]]
    low, high = _reach(moved, values)
    return {
        _argument(moved.name): _whole(low, high, int(values[moved.name])) if moved.whole else _texts(low, high, POINTS)
    }


def _reach(moved: Number, values: Values) -> tuple[float, float]:
    """The values a slider may take for which a run is possible: batch at most the data, δ below one over the size."""
    low, high = moved.low, moved.high
    size, delta = int(values["size"]), float(exactly(values["delta"], "δ"))
    if moved is SIZE:
        low, high = max(low, int(values["batch_size"])), max(min(high, 0.5 / delta), int(values["batch_size"]) + 1)
    if moved is BATCH:
        high = min(high, size)
    if moved is DELTA:
        high = min(high, 0.5 / size)
    return low, high


def _whole(low: float, high: float, chosen: int) -> list[int]:
    return sorted({*np.unique(np.geomspace(low, high, POINTS).astype(np.int64)).tolist(), chosen})


def _texts(low: float, high: float, points: int) -> list[str]:
    return [f"{value:.4g}" for value in np.geomspace(low, high, points)]


def _facts(found: TrainingPlan) -> tuple[tuple[str, str], ...]:
    return (
        ("ε", f"{found.epsilon:.4g}"),
        ("δ", f"{found.delta:g}"),
        ("steps", f"{found.steps}"),
        ("sampling rate", f"{100 * found.rate:.3g} %"),
        *((("best Rényi order", f"{found.order:g}"),) if found.order is not None else ()),
        ("assumes", ", ".join(found.assumes)),
    )


def _weak(found: TrainingPlan) -> str:
    if not found.weak:
        return ""
    return (
        f"δ = {found.delta:g} is weak: above a tenth of one over the size. "
        f"A smaller one, such as {sound_delta(found.size)}, costs little more ε."
    )


TOOL = Tool(
    name="budget",
    title="The budget of a training run",
    lead="How private a run of noisy gradient steps is before it starts: move any number and see what ε it costs.",
    parameters=(AGAINST, SIZE, BATCH, NOISE, EPOCHS, DELTA, NEIGHBOURS, BY),
    figure=figure,
    code=code,
)
