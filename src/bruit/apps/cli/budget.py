"""`bruit budget`: the epsilon of a training run before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import rich_click as click

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, table
from bruit.core.losses import Scheme
from bruit.core.neighbours import Neighbours
from bruit.errors import InvalidArgument
from bruit.privacy import ACCOUNTANTS, TrainingPlan, plan, sound_delta

EXAMPLE = examples(
    "bruit budget --dataset-size 60000 --batch-size 64 --noise 1.0 --epochs 15 --delta 1e-5 "
    "--neighbours 'add or remove one'",
)
RELATIONS = (Neighbours.ADD_OR_REMOVE_ONE.value, Neighbours.REPLACE_ONE.value)
SCHEMES = {"poisson": Scheme.POISSON, "fixed-size": Scheme.FIXED_SIZE, "shuffled": Scheme.SHUFFLED}


@click.command("budget", epilog=EXAMPLE)
@click.option(
    "--dataset-size", "size", type=int, required=True, help="How many records are trained on; a public number."
)
@click.option("--batch-size", type=int, required=True, help="How many records a step takes, on average.")
@click.option(
    "--noise", type=str, help="The noise multiplier: standard deviation of the noise divided by the clipping bound."
)
@click.option("--target-epsilon", type=str, help="In place of --noise: find the least noise multiplier for this ε.")
@click.option("--epochs", type=int, required=True, help="Passes over the data.")
@click.option(
    "--delta",
    type=str,
    required=True,
    help="The δ of the guarantee: a chance of failure, well below 1 / the number of records.",
)
@click.option(
    "--by",
    type=click.Choice(ACCOUNTANTS),
    default="pld",
    show_default=True,
    help="The accountant that adds the steps up; pld is the tightest.",
)
@click.option("--orders", help="Rényi orders for rdp and rdp-simple: numbers like 2,4.5,8, or `fine`: a wide search.")
@click.option(
    "--neighbours",
    type=click.Choice(RELATIONS),
    required=True,
    help="Which two data sets nobody may tell apart: one with and one without a record, or with one exchanged.",
)
@click.option(
    "--scheme", type=click.Choice(list(SCHEMES)), default="poisson", show_default=True, help="How batches are drawn."
)
@json_option
def command(
    *,
    size: int,
    batch_size: int,
    noise: str | None,
    target_epsilon: str | None,
    epochs: int,
    delta: str,
    by: str,
    orders: str | None,
    neighbours: str,
    scheme: str,
    as_json: bool,
) -> None:
    """The epsilon of a training run before it starts, or the noise it needs.

    Nothing is read and nothing is spent. Give either --noise or --target-epsilon.
    """
    if (noise is None) == (target_epsilon is None):
        raise InvalidArgument("give either --noise or --target-epsilon, one of the two")
    found = plan(
        size=size,
        batch_size=batch_size,
        noise_multiplier=noise,
        target_epsilon=target_epsilon,
        epochs=epochs,
        delta=delta,
        neighbours=Neighbours(neighbours),
        by=by,
        scheme=SCHEMES[scheme],
        orders=_orders(orders),
    )
    if as_json:
        print_json(found.to_json())
    else:
        _show(found)


def _orders(text: str | None) -> Sequence[float] | Literal["fine"] | None:
    if text is None:
        return None
    if text == "fine":
        return "fine"
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InvalidArgument(f"--orders {text}: give numbers above 1 like 2,4.5,8, or the word fine") from error


def _show(found: TrainingPlan) -> None:
    rows = [
        ("steps", f"{found.steps}"),
        ("sampling rate", f"{100 * found.rate:.3g} %"),
        ("noise multiplier", f"{found.noise_multiplier:g}"),
        ("ε", f"{found.epsilon:.4f}"),
        ("δ", f"{found.delta:g}"),
        *([("optimal order", f"{found.order:g}")] if found.order is not None else []),
        ("accountant", found.by),
        ("neighbours", str(found.neighbours)),
        ("batches", str(found.scheme)),
        ("assumes", ", ".join(found.assumes)),
    ]
    show(table("The budget of this run", ["what", "value"], rows))
    if found.weak:
        show(
            f"[yellow]δ = {found.delta:g} is weak[/yellow]: above a tenth of 1/{found.size}. "
            f"A smaller one, such as {sound_delta(found.size)}, costs little more ε."
        )
