"""`bruit memory`: forecasts the GPU memory of a training step, without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any, cast

import rich_click as click

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import OnProgress, json_option, print_json, progress, show, table
from bruit.errors import InvalidArgument

EXAMPLE = examples(
    "bruit memory --model vgg16-head --batch-size 64 --hidden-units 512 --reduction 2 --card T4",
)
CARDS = {"GTX-1060": 6, "RTX-3060": 12, "T4": 15, "V100": 16, "RTX-4090": 24, "A100": 40, "A100-80": 80, "H200": 140}
"""GiB of some cards."""

CONTEXT = 0.5
"""GiB that the driver takes for itself."""

MOST_TRIES = 28
"""Forecasts that the search for one largest batch needs at most: twenty-one doublings, then to a sixty-fourth."""

GIBI, MEBI = 2**30, 2**20


@click.command("memory", epilog=EXAMPLE)
@click.option(
    "--model",
    required=True,
    help="The network: digits-cnn, mobile, vgg16-head, vit-s16, wrn-16-4, or package.module:callable.",
)
@click.option("--batch-size", type=click.IntRange(1), required=True, help="How many samples are in memory at once.")
@click.option(
    "--device", type=click.Choice(["cuda", "cpu"]), default="cuda", show_default=True, help="Where it will run."
)
@click.option("--input", "shape", help="The shape of one input, such as 3,224,224, for a callable of your own.")
@click.option(
    "--hidden-units", type=click.IntRange(1), help="How many hidden units the head of vgg16-head has; 512 if absent."
)
@click.option(
    "--reduction",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Divide height and width of the images by this.",
)
@click.option(
    "--optimiser",
    type=click.Choice(["sgd", "adam"]),
    default="sgd",
    show_default=True,
    help="The optimiser; Adam keeps two more numbers for each weight.",
)
@click.option(
    "--card", type=click.Choice(list(CARDS)), help="Also find the largest batch that fits this graphics card."
)
@click.option(
    "--memory",
    "gibibytes",
    type=click.FloatRange(0, min_open=True),
    help="Also find the largest batch that fits so many GiB.",
)
@json_option
def command(
    *,
    model: str,
    batch_size: int,
    device: str,
    shape: str | None,
    hidden_units: int | None,
    reduction: int,
    optimiser: str,
    card: str | None,
    gibibytes: float | None,
    as_json: bool,
) -> None:
    """Forecast the memory of a training step, private and not, and the largest batch that fits.

    Nothing is computed and no card is needed: the step runs over shapes alone, and torch's allocator is replayed.
    """
    from bruit.apps.studies.memory.study import OPTIMISERS
    from bruit.deep.memory import Device, forecast

    make, one = _network(model, shape, hidden_units, reduction)
    network = make()
    made = partial(forecast, network, one, device=cast(Device, device), optimiser=OPTIMISERS[optimiser])
    room = CARDS[card] if card is not None else gibibytes
    with progress("forecasting", quiet=as_json) as on_progress:
        forecasts = _report_progress(made, on_progress, total=2 if room is None else 2 + 2 * MOST_TRIES)
        found = {private: forecasts(batch_size=batch_size, private=private) for private in (False, True)}
        largest = (
            {} if room is None else {private: _largest(partial(forecasts, private=private), room) for private in found}
        )
    if as_json:
        names = {False: "plain", True: "private"}
        fits = {names[private]: size for private, size in largest.items()}
        print_json({names[p]: each.to_json() for p, each in found.items()} | {"largest_batch": fits or None})
    else:
        _show(model, batch_size, found, largest, room)


def _network(model: str, shape: str | None, hidden_units: int | None, reduction: int) -> tuple[Callable[[], Any], Any]:
    """How to make the network over shapes, and the shape of one input."""
    import torch

    from bruit.apps.networks import NETWORKS

    if model in NETWORKS:
        make: Any = NETWORKS[model][0]
        one = _shape(shape) if shape else NETWORKS[model][1]
        if hidden_units is not None:
            if model != "vgg16-head":
                raise InvalidArgument(f"--hidden-units is for vgg16-head; {model} has none to choose")
            make = partial(make, hidden_units)
    else:
        make = _own(model, list(NETWORKS))
        if shape is None:
            raise InvalidArgument(f"--model {model}: give --input, the shape of one input, such as 3,224,224")
        one = _shape(shape)

    def over_shapes() -> Any:
        try:
            with torch.device("meta"):
                network = make()
        except Exception as error:
            raise InvalidArgument(f"--model {model} makes no network: {type(error).__name__}: {error}") from error
        if not isinstance(network, torch.nn.Module):
            raise InvalidArgument(
                f"--model {model} makes no network but a {type(network).__name__}: name a callable that does"
            )
        return network

    return over_shapes, (one[0], *(each // reduction for each in one[1:]))


def _own(model: str, known: list[str]) -> Callable[[], Any]:
    module, _, name = model.partition(":")
    try:
        found: Callable[[], Any] = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidArgument(
            f"--model {model}: choose one of {', '.join(known)}, or name a callable that makes a network as "
            "package.module:callable"
        ) from error
    return found


def _shape(text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidArgument(f"--input {text}: give whole numbers such as 3,224,224") from error
    if min(found) < 1:
        raise InvalidArgument(f"--input {text}: give numbers of at least 1")
    return found


def _report_progress(made: Callable[..., Any], on_progress: OnProgress, *, total: int) -> Callable[..., Any]:
    """Wraps a forecasting function so that every call is reported as progress."""
    numbers = count(1)

    def describe(**asked: Any) -> Any:
        forecast = made(**asked)
        on_progress(next(numbers), total)
        return forecast

    return describe


def _largest(forecast: Callable[..., Any], gibibytes: float) -> int:
    from bruit.deep.memory import largest_batch

    room = (gibibytes - CONTEXT) * GIBI
    return largest_batch(lambda size: forecast(batch_size=size).peak <= room)


def _show(
    model: str, batch_size: int, found: dict[bool, Any], largest: dict[bool, int], gibibytes: float | None
) -> None:
    names = {"model": "model loaded", "batch": "batch loaded", "backward": "gradients there", "step": "step made"}
    rows = []
    for stage, label in names.items():
        plain, private = (found[each].stage(stage) for each in (False, True))
        rows.append(
            (label, *(_mebi(value) for value in (plain.allocated, plain.peak, private.allocated, private.peak)))
        )
    rows.append(("two steps", "", _mebi(found[False].peak), "", _mebi(found[True].peak)))
    rows.append(("… reserved", "", _mebi(found[False].reserved), "", _mebi(found[True].reserved)))
    columns = ["MiB after", "plain", "peak", "private", "peak"]
    show(table(f"{model}, {batch_size} samples", columns, rows))
    if gibibytes is not None:
        show(
            f"Largest batch within {gibibytes:g} GiB (less {CONTEXT:g} for the driver): {largest[False]} plain, "
            f"{largest[True]} private. Cut memory can take more than its peak: leave some room."
        )


def _mebi(value: int) -> str:
    return f"{value / MEBI:.1f}"
