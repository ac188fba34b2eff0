"""Contrastive pre-training: two views of one noise picture get similar vectors, views of different pictures do not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from bruit.deep.vision_pretraining.draws import Draws
from bruit.deep.vision_pretraining.network import BLOCKS, WIDTHS, Learner, Stages, lay_channels_last
from bruit.deep.vision_pretraining.random_processes import PICTURE_SIDE, Pool
from bruit.deep.vision_pretraining.views import LIGHT, view


@dataclass(frozen=True)
class Pretraining:
    """The length and size of a pre-training; the defaults produced the shipped weights.

    A picture stays in the `pool` for about `uses` batches that show it. `steps` ends a training sooner than `seconds`.
    """

    seconds: float
    seed: int = 0
    batch: int = 1024
    pool: int = 65536
    side: int = PICTURE_SIDE
    uses: int = 8
    widths: tuple[int, ...] = WIDTHS
    blocks: int = BLOCKS
    temperature: float = 0.1
    light: float = LIGHT
    rate: float = 2e-3
    decay: float = 1e-3
    warm_up: int = 300
    steps: int | None = None


def contrast_loss(projections: Tensor, *, temperature: float) -> Tensor:
    """−s(a, b)/τ + log Σ over views of other pictures of exp(s/τ), averaged over all views.     [Yeh et al. 2022]

    s is the cosine; the first half of the rows and the second half are two views of the same pictures.
    """
    rows = functional.normalize(projections.float(), dim=1)
    likeness = rows @ rows.mT / temperature
    count = len(rows) // 2
    own = torch.arange(2 * count, device=rows.device)
    partner = own.roll(count)
    alike = likeness[own, partner]
    others = likeness.clone()
    others[own, own] = others[own, partner] = -math.inf
    return (others.logsumexp(1) - alike).mean()


def pretrain(
    settings: Pretraining, device: torch.device, *, on_step: Callable[[int, float, float, Stages], None] | None = None
) -> Stages:
    """A network pre-trained on noise pictures, for a number of seconds or steps, whichever ends first.

    The rate rises for `warm_up` steps and falls as a cosine of the time that is gone. On a GPU the forward pass runs
    in bfloat16 and is compiled; sums there come in no fixed order, so that a seed gives weights alike and not the same.
    """
    draws = Draws(settings.seed, device)
    torch.manual_seed(settings.seed)  # the start of the network
    stages = Stages(settings.widths, settings.blocks)
    learner = Learner(stages).to(device)
    lay_channels_last(learner)
    gpu = device.type == "cuda"
    forward = torch.compile(learner) if gpu else learner
    pool = Pool(draws, size=settings.pool, side=settings.side, at_once=settings.batch)
    optimiser = torch.optim.AdamW(learner.parameters(), lr=settings.rate, weight_decay=settings.decay, fused=gpu)
    for group in optimiser.param_groups:
        group["lr"] = 0.0
    _step(settings, draws, pool, forward, optimiser, gpu=gpu)  # compiles; with a rate of zero nothing is learned yet
    began, step, gone = time.monotonic(), 0, 0.0
    while gone < 1 and (settings.steps is None or step < settings.steps):
        for group in optimiser.param_groups:
            group["lr"] = settings.rate * min(1, step / settings.warm_up) * (1 + math.cos(math.pi * gone)) / 2
        loss = _step(settings, draws, pool, forward, optimiser, gpu=gpu)
        step += 1
        if step % settings.uses == 0:
            pool.renew()
        if step % 20 == 0:
            value = float(loss)  # waits for the device, so that the clock tells what was done
            if on_step is not None:
                on_step(step, time.monotonic() - began, value, stages)
        gone = max((time.monotonic() - began) / settings.seconds, step / settings.steps if settings.steps else 0.0)
    return stages


def _step(
    settings: Pretraining,
    draws: Draws,
    pool: Pool,
    forward: Callable[[Tensor], Tensor],
    optimiser: torch.optim.Optimizer,
    *,
    gpu: bool,
) -> Tensor:
    """One step of the optimiser on a batch; the loss before it."""
    with torch.no_grad():
        found = pool.batch(settings.batch)
        both = torch.cat([view(draws, found, light=settings.light) for _ in range(2)])
        both = both.contiguous(memory_format=torch.channels_last)
    with torch.autocast(draws.device.type, torch.bfloat16, enabled=gpu):
        projections = forward(both)
    loss = contrast_loss(projections, temperature=settings.temperature)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    return loss.detach()
