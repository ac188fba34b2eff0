"""Reads channels from JSON, with the same checks as their constructors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np

from bruit.channels.channel import Channel
from bruit.channels.choices import Choice, Exponential, PermuteAndFlip
from bruit.channels.finite import FiniteChannel, MatrixChannel, Repeated
from bruit.channels.gaussian_channel import ContinuousChannel
from bruit.channels.integer_noise import IntegerNoise
from bruit.channels.symmetric_channel import SymmetricChannel
from bruit.channels.vector_noise import CubeNoise, GaussianVector
from bruit.channels.weights import ONE
from bruit.core.arguments import whole
from bruit.core.losses import DiscreteGaussian, DiscreteLaplace, Loss, Pure, loss_from_json
from bruit.core.numbers import exactly
from bruit.errors import BadFile, BruitError, InvalidArgument

Block = Mapping[str, Any]


def channel_from_json(description: Block | str) -> Channel:
    """Rebuilds a channel from its `to_json`; refuses an invalid law, or one less private than it states."""
    try:
        block = json.loads(description) if isinstance(description, str) else dict(description)
        channel = _read(block)
    except BruitError as error:
        raise BadFile(f"this block describes no channel: {error}") from error
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise BadFile("this block describes no channel: it was cut, changed, or written by something else") from error
    if isinstance(channel, FiniteChannel | Repeated | Choice) and str(channel.epsilon) != block.get("epsilon"):
        raise BadFile(
            "this block states another epsilon than its own weights have: it was changed after it was written"
        )
    return channel


def _read(block: Block) -> Channel:
    if block["kind"] not in READERS:
        raise InvalidArgument(f"{block['kind']!r} is no kind of channel that this version knows")
    return READERS[block["kind"]](block)


def _finite(block: Block) -> FiniteChannel:
    if block["out_of"] != ONE:
        raise InvalidArgument(f"weights must be integers out of 2^52, not of {block['out_of']!r}")
    if block["kind"] == "symmetric":
        return SymmetricChannel(*(whole(block[name], name, least=0, most=ONE) for name in ("size", "keep", "other")))
    return MatrixChannel(
        np.array(
            [[whole(cell, "weight", least=0, most=ONE) for cell in row] for row in block["weights"]], dtype=np.int64
        )
    )


def _read_repeated(block: Block) -> Repeated:
    channel = channel_from_json(block["channel"])
    if not isinstance(channel, FiniteChannel):
        raise InvalidArgument("only a channel over finitely many symbols is repeated")
    return channel.repeat(block["times"])


def _integer_noise(block: Block) -> IntegerNoise:
    return IntegerNoise(_loss(block, DiscreteLaplace, DiscreteGaussian))


def _cube(block: Block) -> CubeNoise:
    return CubeNoise(_above_zero(block["scale"]), whole(block["entries"], "entries"), _loss(block, Pure))


def _gaussian_vector(block: Block) -> GaussianVector:
    return GaussianVector(whole(block["entries"], "entries"), _loss(block, DiscreteGaussian))


def _choice(block: Block) -> Choice:
    kind = {each.kind: each for each in (Exponential, PermuteAndFlip)}[block["kind"]]
    if not isinstance(block["monotone"], bool):
        raise InvalidArgument("a choice states whether it is monotone")
    return kind(_above_zero(block["exponent"]), whole(block["sensitivity"], "sensitivity"), block["monotone"])


def _above_zero(value: Any) -> Fraction:
    number = exactly(value, "scale")
    if number <= 0:
        raise InvalidArgument(f"{value!r} must be above zero")
    return number


def _loss(block: Block, *kinds: type[Loss]) -> Any:
    loss = loss_from_json(block["loss"])
    if not isinstance(loss, kinds):
        raise InvalidArgument(f"{type(loss).__name__} is not the loss of this kind of noise")
    return loss


READERS: Final[dict[str, Callable[[Block], Channel]]] = {
    "symmetric": _finite,
    "matrix": _finite,
    "repeated": _read_repeated,
    "gaussian": lambda block: ContinuousChannel(float(exactly(block["noise"], "noise"))),
    "integer noise": _integer_noise,
    "cube noise": _cube,
    "gaussian vector": _gaussian_vector,
    "exponential": _choice,
    "permute-and-flip": _choice,
}
