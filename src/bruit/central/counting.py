"""How many rows there are."""

import numpy as np

from bruit.central.asking import asked
from bruit.central.noise import bought_noise, draw, half_width
from bruit.central.paying import pay, require_price
from bruit.ledger import Budget
from bruit.privacy import Covers, Interval, Release
from bruit.tables import Column, Table
from bruit.tables.exact import count as exact_count


def count(
    data: Table | Column,
    *,
    budget: Budget | None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Release[int]:
    """How many rows a table has, each person counted at most as often as `limit(rows=...)` says.

    Adding, removing or exchanging one person moves the count by at most that number of rows, under both relations.
    """
    table = data if isinstance(data, Table) else data.table
    price = require_price(budget, table, "central.count")
    loss = bought_noise(price, each=table.bounds[1])
    width = half_width(loss, confidence)
    charge, source = pay(price, loss, what="central.count", rng=rng)
    value = exact_count(data) + int(draw(loss, 1, rng=source)[0])
    low, high = (np.array(float(max(value + side, 0))) for side in (-width, width))
    release = Release(
        value=value,
        guarantee=charge.guarantee,
        method=type(loss).__name__,
        labels=("count",),
        interval=Interval(low, high, confidence, Covers.TABLE),
        noise=float(width),
        details=asked(table, *(() if isinstance(data, Table) else (data,))),
    )
    return charge.finish(release)
