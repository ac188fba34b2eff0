"""What a training costs and what it may do for that, settled before the data is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from bruit.deep.checkpoints import Checkpoints, paid_before, taken
from bruit.deep.correlated import Banded
from bruit.deep.processes import Team
from bruit.errors import InvalidArgument, PrivacyError
from bruit.ledger import Budget, Charge, require
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, Assumption, Guarantee, Plan


@dataclass(frozen=True)
class Paid:
    """A run that was paid for: its plan, its charge, what it promises, and where it goes on.

    Only the process that pays has the charge. A run without privacy has no plan, no charge and no noise.
    """

    size: int
    batch_size: int
    epochs: int
    steps: int
    guarantee: Guarantee
    plan: Plan | None = None
    charge: Charge | None = None
    start: int = 0
    state: dict[str, Any] | None = None
    bands: int = 1

    @property
    def noise(self) -> float:
        """The deviation of the noise over the bound."""
        return 0.0 if self.plan is None else self.plan.noise


def paid_for(planned: Plan, charge: Charge | None, start: int = 0) -> Paid:
    """A run by a plan and its charge."""
    promised = planned.guarantee("each record") if charge is None else charge.guarantee
    shape = (planned.size, planned.batch_size, planned.epochs, planned.steps)
    return Paid(*shape, promised, planned, charge, start)


def row_price(budget: Any, what: str, *, size: int | None) -> Budget:
    """The budget, where its book protects each record; a person with several is not bounded here.

    Of a cell of a partition the size is never public: an exchanged record can leave it.
    """
    price = require(budget, what)
    if price.covers_a_part and size is None:
        raise InvalidArgument(
            f"{what} with the budget of a cell: records leave it or come into it, so that its size is private; give "
            "size=, about how many records a cell has, known before seeing the data"
        )
    if price.person != EACH_ROW:
        raise PrivacyError(
            f"{what} bounds what one record does; the book {price.ledger.name!r} protects {price.person!r}, who may "
            "have several: give one record a person and a book of person=bruit.EACH_ROW"
        )
    return price


def without_privacy(size: int, *, batch_size: int, epochs: int) -> Paid:
    """A run that promises nothing, and says so."""
    if not 1 <= batch_size <= size:
        raise InvalidArgument(f"batch_size={batch_size}: give one between 1 and the size of the data set, {size}")
    if epochs < 1:
        raise InvalidArgument(f"epochs={epochs}: give at least 1")
    nothing = Guarantee(inf, Fraction(0), ADD_OR_REMOVE_ONE, "nobody", "no accountant: without privacy")
    return Paid(size, batch_size, epochs, epochs * -(-size // batch_size), nothing)


def settled(
    price: Budget | None,
    size: int,
    *,
    batch_size: int,
    epochs: int,
    noise: Banded,
    files: Checkpoints | None,
    assumes: Callable[[Plan], tuple[Assumption, ...]],
    team: Team,
) -> Paid:
    """The run that a price pays for, charged once whatever the number of processes."""
    kept: list[Charge] = []

    def pay() -> Paid:
        assert price is not None
        planned = planned_run(price, size, batch_size=batch_size, epochs=epochs, noise=noise)
        charge, state = _charged(price, planned, assumes(planned), files)
        kept.append(charge)
        start = 0 if state is None else taken(charge, planned, bands=noise.bands)
        return replace(paid_for(planned, charge, start), charge=None, state=state, bands=noise.bands)

    found = team.once(pay)
    return replace(found, charge=kept[0]) if kept else found


def _charged(
    price: Budget, planned: Plan, assumes: tuple[Assumption, ...], files: Checkpoints | None
) -> tuple[Charge, dict[str, Any] | None]:
    """A new charge, or that of the checkpoint with its state."""
    if files is None or not files.file.exists():
        return price.charge(planned.loss, what="deep.train", assumes=assumes), None
    state = files.read()
    return paid_before(price.ledger, planned, state), state


def planned_run(price: Budget, size: int, *, batch_size: int, epochs: int, noise: Banded) -> Plan:
    """The run with the least noise that the price pays for."""
    book = price.ledger.terms.by
    return noise.plan(
        size=size,
        batch_size=batch_size,
        epochs=epochs,
        delta=price.delta,
        neighbours=price.neighbours,
        target_epsilon=price.epsilon,
        by=price.by or ("pld" if book == "basic" else book),
    )


def assumed(planned: Plan, *, size: int | None, rng: np.random.Generator | None) -> tuple[Assumption, ...]:
    """What the guarantee of a run takes for granted."""
    public = tuple(each for each in planned.assumes if size is None or each is not Assumption.PUBLIC_SIZE)
    return public if rng is None else (*public, Assumption.SEEDED)


def checkpoints(
    file: str | Path | None, every: int | None, *, steps_of_epoch: int, bands: int = 1
) -> Checkpoints | None:
    """Where the states go, each epoch unless said otherwise, after whole rounds of the bands."""
    if file is None:
        return None
    steps = every if every is not None else steps_of_epoch
    return Checkpoints(Path(file), -(-steps // bands) * bands)
