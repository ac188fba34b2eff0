"""Prices and charges a training before the data is read."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption, Guarantee
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.deep.noise import Banded
from bruit.deep.training.checkpoints import Checkpoints, charge_of_checkpoint, steps_taken
from bruit.deep.training.distributed import ProcessGroup
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, Charge, Purchase
from bruit.privacy import TrainingPlan


@dataclass(frozen=True)
class Paid:
    """A run that was paid for: its plan, charge and guarantee, and the step to resume from.

    Only the process that pays has the charge. A run without privacy has no plan, no charge and no noise.
    """

    size: int
    batch_size: int
    epochs: int
    steps: int
    guarantee: Guarantee
    plan: TrainingPlan | None = None
    charge: Charge | None = None
    start: int = 0
    state: dict[str, Any] | None = None
    bands: int = 1

    @property
    def noise(self) -> float:
        """The noise multiplier: the deviation of the noise over the clipping bound."""
        return 0.0 if self.plan is None else self.plan.noise_multiplier


def paid_run(planned: TrainingPlan, charge: Charge | None, start: int = 0) -> Paid:
    """A `Paid` run from a plan and its charge."""
    promised = planned.guarantee("each record") if charge is None else charge.guarantee
    shape = (planned.size, planned.batch_size, planned.epochs, planned.steps)
    return Paid(*shape, promised, planned, charge, start)


def require_size_of_cell(purchase: Purchase, size: int | None) -> None:
    """Refuses a partition cell's budget without a public size, since replaced records can leave the cell."""
    if purchase.price.covers_a_part and size is None:
        raise InvalidArgument(
            f"{purchase.what} with the budget of a cell: records leave it or come into it, so that its size is "
            "private; give size=, about how many records a cell has, known before seeing the data"
        )


def without_privacy(size: int, *, batch_size: int, epochs: int) -> Paid:
    """A run without noise or charge, whose guarantee says that it promises nothing."""
    if batch_size > size:
        raise InvalidArgument(f"batch_size={batch_size}: give one between 1 and the size of the data set, {size}")
    nothing = Guarantee(inf, Fraction(0), ADD_OR_REMOVE_ONE, "nobody", "no accountant: without privacy")
    return Paid(size, batch_size, epochs, epochs * -(-size // batch_size), nothing)


def pay_run(
    purchase: Purchase | None,
    size: int,
    *,
    batch_size: int,
    epochs: int,
    correlation: Banded,
    files: Checkpoints | None,
    taken: Set[Assumption],
    group: ProcessGroup,
) -> Paid:
    """Plans the run that a budget pays for, charges it once for all ranks and returns it."""
    kept: list[Charge] = []

    def pay() -> Paid:
        assert purchase is not None
        planned = plan_run(purchase.price, size, batch_size=batch_size, epochs=epochs, correlation=correlation)
        charge, state = _charge(purchase, planned, _assumptions(planned, taken), files)
        kept.append(charge)
        start = 0 if state is None else steps_taken(charge, planned, bands=correlation.bands)
        return replace(paid_run(planned, charge, start), charge=None, state=state, bands=correlation.bands)

    found = group.once(pay)
    return replace(found, charge=kept[0]) if kept else found


def _charge(
    purchase: Purchase, planned: TrainingPlan, assumes: tuple[Assumption, ...], files: Checkpoints | None
) -> tuple[Charge, dict[str, Any] | None]:
    """Pays a new charge, or finds that of the checkpoint together with its state.

    What is released keeps the guarantee of that charge, which must say all that this stretch assumes.
    """
    if files is None or not files.file.exists():
        return purchase.pay(planned.loss, assumes=assumes), None
    state = files.read()
    charge = charge_of_checkpoint(purchase.price.ledger, planned, state)
    unsaid = {*assumes, *purchase.seed.assumes} - set(charge.guarantee.assumes)
    if unsaid:
        raise InvalidArgument(
            f"the training of the checkpoint was charged without assuming {' and '.join(sorted(unsaid))}, as this part "
            "of it would: give the same model, size, rng and assume_separate as then, or start again with another file"
        )
    return charge, state


def plan_run(price: Budget, size: int, *, batch_size: int, epochs: int, correlation: Banded) -> TrainingPlan:
    """The plan with the smallest noise multiplier that the budget pays for."""
    return correlation.plan(
        size=size,
        batch_size=batch_size,
        epochs=epochs,
        delta=price.delta,
        neighbours=price.neighbours,
        target_epsilon=price.epsilon,
        **accounting_of(price),
    )


def accounting_of(price: Budget) -> dict[str, Any]:
    """Who calibrates the noise that a budget pays for: its own accountant, that of its book, or pld for a sum of ε.

    A price that was given as a loss is a Rényi divergence in a book that adds them: at the order of the book alone.
    """
    terms = price.ledger.terms
    by = price.by or ("pld" if terms.by == "basic" else terms.by)
    order = terms.order if by == "rdp" and price.room is not None else None
    return {"by": by, "orders": None if order is None else [float(order)]}


def _assumptions(planned: TrainingPlan, taken: Set[Assumption]) -> tuple[Assumption, ...]:
    """The assumptions of a run's guarantee; a stated size need not be that of the data."""
    own = (each for each in planned.assumes if each is not Assumption.PUBLIC_SIZE or each in taken)
    return (*own, *({Assumption.SAMPLES_APART} & taken))


def checkpoints(
    file: str | Path | None, every: int | None, *, steps_of_epoch: int, bands: int = 1
) -> Checkpoints | None:
    """Where and how often to checkpoint: each epoch unless `every` is given, in multiples of `bands` steps."""
    if file is None:
        return None
    steps = steps_of_epoch if every is None else whole(every, "every", why="how many steps lie between checkpoints")
    return Checkpoints(Path(file), -(-steps // bands) * bands)
