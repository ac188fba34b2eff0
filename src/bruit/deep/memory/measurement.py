"""Measures the memory of a training step on a GPU; each measurement needs a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn

from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep.checks.model_structure import trainable
from bruit.deep.dp_sgd import Optimiser
from bruit.deep.losses import cross_entropy
from bruit.deep.memory.forecasts import plain_sgd
from bruit.deep.memory.stages import Log, Stage, log_two_steps
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.errors import InvalidArgument
from bruit.ledger import Ledger


def measure(
    make: Callable[[], nn.Module],
    shape: Sequence[int],
    *,
    batch_size: int,
    private: bool,
    optimiser: Optimiser = plain_sgd,
    loss: Loss = cross_entropy,
) -> tuple[Stage, ...]:
    """Allocated, peak and reserved bytes at the end of each stage of two steps on random images.

    The allocator remembers what ran before: call this once in a process.
    """
    if not torch.cuda.is_available():
        raise InvalidArgument("no CUDA card here: memory is measured where there is one; a forecast needs none")
    torch.cuda.init()
    log = Log(_read_counters)
    model = make().cuda()
    log.end("model")
    batch = (torch.randn(batch_size, *shape).cuda(), torch.zeros(batch_size, dtype=torch.int64).cuda())
    log.end("batch")
    steps = optimiser(trainable(model))
    training = None
    if private:
        from bruit.deep import privatise  # the package is not complete while this module is read

        ledger = Ledger("memory", epsilon=100, delta=0.1, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
        price = ledger.budget(epsilon=100, delta=min(0.1, 0.5 / batch_size))
        training = privatise(model, steps, batch, budget=price, epochs=2, batch_size=batch_size, clip=1.0, loss=loss)
    _read_counters()
    log_two_steps(model, batch, steps, loss, training, log)
    return tuple(log.stages)


def _read_counters() -> tuple[int, int, int]:
    torch.cuda.synchronize()
    found = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    torch.cuda.reset_peak_memory_stats()
    return found
