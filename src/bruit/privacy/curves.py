"""Tables of epsilon against the parameters of a training run, the Rényi order, or delta."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bruit.core.losses import Loss, Scheme
from bruit.core.neighbours import Neighbours
from bruit.core.numbers import Exact, positive, probability
from bruit.errors import InvalidArgument
from bruit.privacy.accountants import Orders
from bruit.privacy.accountants import delta as accounted_delta
from bruit.privacy.accounting import renyi
from bruit.privacy.pld.distribution import pld_curve
from bruit.privacy.training.plans import TrainingPlan, check_run, plan, steps_of, training_loss

if TYPE_CHECKING:
    import polars

CURVE_TOLERANCE = 1e-3
COLUMNS = (
    "size",
    "batch_size",
    "noise_multiplier",
    "epochs",
    "delta",
    "neighbours",
    "by",
    "steps",
    "rate",
    "epsilon",
    "order",
)

Whole = int | Iterable[int]
Number = Exact | Iterable[Exact]


def curve(
    *,
    size: Whole,
    batch_size: Whole,
    noise_multiplier: Number,
    epochs: Whole,
    delta: Number,
    neighbours: Neighbours | Sequence[Neighbours],
    by: str | Sequence[str] = "pld",
    scheme: Scheme = Scheme.POISSON,
    orders: Orders = None,
) -> polars.DataFrame:
    """The epsilon of training runs as a table, one row per combination of the parameters given as sequences.

    The columns are those of a plan. Epochs accounted by pld share one grid, on which epsilon is within a thousandth.
    """
    import polars

    rows: list[dict[str, Any]] = []
    lengths = _as_list(epochs)
    for n, batch, level, chance, relation, name in product(
        *map(_as_list, (size, batch_size, noise_multiplier, delta, neighbours, by))
    ):
        fixed = {"size": n, "batch_size": batch, "noise_multiplier": level, "delta": chance, "neighbours": relation}
        if name == "pld" and len(lengths) > 1:
            rows.extend(_along_epochs(lengths, scheme=scheme, **fixed))
        else:
            rows.extend(_row(plan(epochs=e, by=name, scheme=scheme, orders=orders, **fixed)) for e in lengths)
    return polars.DataFrame(rows, schema_overrides={"order": polars.Float64})


def order_curve(loss: Loss, *, delta: Exact, orders: Sequence[float] | None = None) -> polars.DataFrame:
    """The epsilon at each Rényi order by both conversions; columns order, divergence, simple, improved."""
    import polars

    grid = renyi.DOCUMENT_ORDERS if orders is None else renyi.choose_orders(orders)
    chance = float(probability(delta, "delta"))
    if chance == 0:
        raise InvalidArgument("delta=0: Rényi orders give an epsilon only at a delta above zero")
    divergences = renyi.renyi(loss, grid)
    return polars.DataFrame(
        {
            "order": grid,
            "divergence": divergences,
            "simple": renyi.simple_epsilon(divergences, grid, chance),
            "improved": renyi.improved_epsilon(divergences, grid, chance),
        }
    )


def delta_curve(loss: Loss, *, epsilons: Sequence[Exact], by: str = "pld") -> polars.DataFrame:
    """The delta of a loss at each epsilon, as a table."""
    import polars

    deltas = [float(accounted_delta(loss, epsilon=epsilon, by=by)) for epsilon in epsilons]
    return polars.DataFrame({"epsilon": [float(epsilon) for epsilon in epsilons], "delta": deltas})


def _along_epochs(lengths: list[int], *, scheme: Scheme, **fixed: Any) -> list[dict[str, Any]]:
    """The rows of one run at every length, from one grid."""
    chance = float(check_run(fixed["size"], fixed["batch_size"], min(lengths), fixed["delta"]))
    one = training_loss(epochs=1, scheme=scheme, **{name: fixed[name] for name in fixed if name != "delta"})
    spent = pld_curve(one, lengths, chance, tolerance=CURVE_TOLERANCE)
    common = fixed | {
        "noise_multiplier": float(positive(fixed["noise_multiplier"], "noise_multiplier")),
        "delta": chance,
        "neighbours": fixed["neighbours"].value,
        "by": "pld",
        "rate": fixed["batch_size"] / fixed["size"],
        "order": None,
    }
    rows = [
        common
        | {
            "epochs": length,
            "steps": steps_of(fixed["size"], fixed["batch_size"], length),
            "epsilon": float(np.nextafter(cost, np.inf)),
        }
        for length, cost in zip(lengths, spent, strict=True)
    ]
    return [{name: row[name] for name in COLUMNS} for row in rows]


def _row(found: TrainingPlan) -> dict[str, Any]:
    return {name: getattr(found, name) for name in COLUMNS} | {"neighbours": found.neighbours.value}


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, str | Neighbours) or not isinstance(value, Iterable):
        return [value]
    items = list(value)
    if not items:
        raise InvalidArgument("an empty sequence leaves nothing to draw a curve of; give at least one value")
    return [item.item() if isinstance(item, np.generic) else item for item in items]
