"""Several random augmentations (views) of a record, averaged before clipping, so that they cost no privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.func import vmap

from bruit.core.arguments import whole
from bruit.deep.checks.value_reads import OfOne, Strayed
from bruit.deep.training.dataset import Part
from bruit.errors import InvalidArgument

Change = Callable[[Tensor], Tensor]
"""From one record's first input to another, drawn at random."""


@dataclass(frozen=True)
class Views:
    """`count` random views of each record, all in one gradient: (1/count) Σ_v g(view_v).      [De et al. 2022]

    `change` sees one record at a time, under vmap, so that no view holds anything of another record.
    """

    count: int
    change: Change

    def __post_init__(self) -> None:
        whole(self.count, "views", why="how many views a record has")
        if not callable(self.change):
            raise InvalidArgument(f"change={self.change!r}: give a function of one record, such as bruit.deep.shifted")

    def of(self, part: Part) -> Part:
        """A part with `count` views of each record, the views of a record in consecutive rows."""
        repeated = [each.repeat_interleave(self.count, 0) for each in (*part.inputs, part.targets)]
        try:
            with OfOne() as seen:
                first = vmap(self.change, randomness="different")(repeated[0])
            told = seen.any
        except Strayed:
            told = True
        if told:  # they would be those of the whole batch
            raise InvalidArgument(
                "change= reads values of its record, or has a rule of its own for batches (a vmap= of a "
                "torch.autograd.Function or of an operation): compute every view by torch's operations alone"
            )
        return replace(part, inputs=(first, *repeated[1:-1]), targets=repeated[-1])


def shifted(image: Tensor, *, pixels: int = 4) -> Tensor:
    """An image (channels, rows, columns) shifted by up to `pixels` pixels and mirrored with probability ½.

    What comes in from outside is the image reflected at its edge. All pixels are gathered at once: under vmap, cutting
    a window out of a padded image took longer than the step.
    """
    height, width = image.shape[1:]
    if not 0 <= pixels < min(height, width):
        raise InvalidArgument(f"pixels={pixels}: an image of {height} by {width} is shifted by less than its sides")
    down, across = (torch.randint(2 * pixels + 1, (), device=image.device) - pixels for _ in range(2))
    columns = torch.arange(width, device=image.device)
    columns = torch.where(torch.rand((), device=image.device) < 0.5, columns, columns.flip(0)) + across
    rows = _reflected(torch.arange(height, device=image.device) + down, height)
    places = (width * rows.unsqueeze(1) + _reflected(columns, width)).flatten()
    return image.flatten(1).gather(1, places.expand(len(image), -1)).view(image.shape)


def _reflected(places: Tensor, size: int) -> Tensor:
    """Places outside of 0 to size − 1 reflected at the ends."""
    return (size - 1) - ((size - 1) - places.abs()).abs()
