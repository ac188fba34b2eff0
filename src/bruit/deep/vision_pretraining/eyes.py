"""Features of images from the network pre-trained on noise pictures, whose weights ship with the package."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from importlib.resources import files

import torch
from torch import Tensor, nn
from torch.nn import functional

from bruit.deep.vision_pretraining.draws import Draws
from bruit.deep.vision_pretraining.network import Stages, lay_channels_last
from bruit.deep.vision_pretraining.random_processes import PICTURE_SIDE, pictures
from bruit.deep.vision_pretraining.views import LIGHT, view
from bruit.errors import InvalidArgument

WEIGHTS = "eyes.pt"
DIGEST = "2e9ff072e69f8890002f7e4d50126417b974e77982a8f92b5e91fff45241007c"
"""SHA-256 of the weights; their card is `eyes.md` beside them."""

LEAST_SIDE = 16
"""Images below this have fewer places in their last maps than are pooled to."""

SCALE_FLOOR = 0.02
"""Added to deviations: a channel that hardly moves on noise pictures is not blown up."""


class Eyes(nn.Module):
    """Frozen image features: positive and negative parts of each stage's maps, averaged over a grid of positions.

    From images of (records, 3, side, side) within [0, 1] to (records, channels, positions, positions). Of each map z
    there are two channels, max(z, 0) and max(−z, 0); each is centred and scaled by its mean and deviation over noise
    pictures, so that no image of anybody is behind a number of it. A record's features depend on that record alone.
    """

    def __init__(self, stages: Stages, *, positions: int = 3) -> None:
        super().__init__()
        self.stages, self.positions = stages, positions
        self.channels = 2 * sum(stages.widths)
        self.middle: Tensor
        self.scale: Tensor
        self.register_buffer("middle", torch.zeros(self.channels))
        self.register_buffer("scale", torch.ones(self.channels))
        self.requires_grad_(requires_grad=False)
        self.eval()

    def train(self, mode: bool = True) -> Eyes:  # noqa: FBT001, FBT002  the signature of nn.Module
        """Keeps the network in evaluation mode, since batch norms in training mode would mix the records of a batch."""
        del mode
        return super().train(mode=False)

    def forward(self, images: Tensor) -> Tensor:
        """The features of each image, centred and scaled by channel."""
        return (self.pool(images) - self.middle[:, None, None]) / self.scale[:, None, None]

    def pool(self, images: Tensor) -> Tensor:
        """The features of each image before centring and scaling."""
        if images.dim() != 4 or images.shape[1] != 3 or min(images.shape[2:]) < LEAST_SIDE:
            raise InvalidArgument(
                f"images of shape {tuple(images.shape)}: give (records, 3, side, side) with values within [0, 1] and a "
                f"side of at least {LEAST_SIDE}; repeat a grey image three times, and enlarge a smaller one"
            )
        sides = [side for maps in self.stages(images) for side in (maps, -maps)]
        return torch.cat([functional.adaptive_avg_pool2d(functional.relu(side), self.positions) for side in sides], 1)

    def standardise(self, draws: Draws, *, count: int, at_once: int = 256, light: float = LIGHT) -> None:
        """Sets each channel's mean and scale from `count` views of fresh noise pictures."""
        with torch.no_grad():
            parts = [
                self.pool(view(draws, pictures(draws, at_once, PICTURE_SIDE), light=light)).transpose(0, 1).flatten(1)
                for _ in range(-(-count // at_once))
            ]
            every = torch.cat(parts, 1).double()
            self.middle.copy_(every.mean(1))
            self.scale.copy_(every.std(1) + SCALE_FLOOR)


def half_state(eyes: Eyes) -> dict[str, Tensor]:
    """The network's floating-point state dict in half precision, as shipped; batch counters are left out."""
    return {name: each.half().cpu() for name, each in eyes.state_dict().items() if each.is_floating_point()}


def from_half_state(state: Mapping[str, Tensor], stages: Stages, *, positions: int) -> Eyes:
    """An `Eyes` network from a half-precision state dict (the inverse of `half_state`)."""
    eyes = Eyes(stages, positions=positions)
    counters = {name: each for name, each in eyes.state_dict().items() if not each.is_floating_point()}
    eyes.load_state_dict(counters | {name: each.float() for name, each in state.items()})
    return eyes


def load_eyes(*, positions: int = 3) -> Eyes:
    """The shipped `Eyes` network, frozen, with features on a positions × positions grid."""
    content = files("bruit.deep.vision_pretraining").joinpath(WEIGHTS).read_bytes()
    if hashlib.sha256(content).hexdigest() != DIGEST:
        raise InvalidArgument(f"{WEIGHTS} is not the file that was shipped, by its SHA-256: install bruit again")
    state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    return from_half_state(state, Stages(), positions=positions)


def eye_features(images: Tensor, *, positions: int = 3, at_once: int = 500) -> Tensor:
    """The `Eyes` features of many images, computed `at_once` images at a time on the images' device."""
    eyes = load_eyes(positions=positions).to(images.device)
    lay_channels_last(eyes)
    with torch.no_grad():
        return torch.cat([eyes(part) for part in images.split(at_once)])


def eye_views(
    images: Tensor,
    *,
    sides: Sequence[int] = (32, 40, 48),
    positions: int = 3,
    kind: torch.dtype = torch.float32,
    at_once: int = 500,
) -> Tensor:
    """The `Eyes` features of each image and of its mirror image at several sizes: (records, views, features).

    Images are scaled to each side of `sides`; `train_head` averages the gradients of a record's views, and its head
    their scores. `kind` is the type the features are kept in: twelve thousand for each view fill a memory.
    """
    eyes = load_eyes(positions=positions).to(images.device)
    lay_channels_last(eyes)

    def look(part: Tensor) -> Tensor:
        scaled = (functional.interpolate(part, (side, side), mode="bilinear", antialias=True) for side in sides)
        both = (each for size in scaled for each in (size, size.flip(3)))
        return torch.stack([eyes(each).flatten(1).to(kind) for each in both], 1)

    with torch.no_grad():
        return torch.cat([look(part) for part in images.split(at_once)])
