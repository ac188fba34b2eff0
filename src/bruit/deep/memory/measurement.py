"""The memory of a training step as a card counts it; each measurement belongs into a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn

from bruit.deep.examination import trainable
from bruit.deep.fallback import Loss
from bruit.deep.losses import cross_entropy
from bruit.deep.memory.forecast import plain_sgd
from bruit.deep.memory.stages import Log, Stage, watched_steps
from bruit.deep.train import Optimiser
from bruit.errors import InvalidArgument
from bruit.ledger import Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW


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
    log = Log(_read)
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
    _read()
    watched_steps(model, batch, steps, loss, training, log)
    return tuple(log.stages)


def _read() -> tuple[int, int, int]:
    torch.cuda.synchronize()
    found = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    torch.cuda.reset_peak_memory_stats()
    return found
