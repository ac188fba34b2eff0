"""Flags that a GPU copies to the CPU as soon as they are computed, so that the CPU need not wait for later work."""

from __future__ import annotations

import time
from itertools import count
from weakref import WeakValueDictionary

import torch
from torch import Tensor

BAD, GOOD, AWAITED = range(3)
PAUSE = 2e-5
"""Seconds between two looks."""


class DeviceFlag:
    """One boolean that a graph on the GPU writes into pinned memory for the CPU to read.

    No event is waited for, since one that was recorded with a graph is not told apart from one of an earlier run.
    """

    def __init__(self, number: int, device: torch.device) -> None:
        self.number, self._device = number, device
        self.here = torch.full((), AWAITED, dtype=torch.uint8, device="cpu", pin_memory=device.type == "cuda")
        self._is_open = False

    def open(self) -> None:
        """Clears the flag before the graph runs, so that the value of an earlier run is not read."""
        if self._is_open and self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        self._is_open = True
        self.here.fill_(AWAITED)

    def answer(self) -> bool:
        """Waits for the flag of the run started after `open`, and returns whether it is good."""
        while int(self.here) == AWAITED:
            done = self._device.type != "cuda" or torch.cuda.current_stream(self._device).query()
            if done and int(self.here) == AWAITED:
                raise RuntimeError("the graph has ended without telling whether its gradients are finite")
            time.sleep(PAUSE)
        self._is_open = False
        return int(self.here) == GOOD


_NUMBERS = count()
_FLAGS: WeakValueDictionary[int, DeviceFlag] = WeakValueDictionary()
"""Those whose graphs are still there."""


def device_flag(device: torch.device) -> DeviceFlag:
    """Makes and registers a device flag for one device."""
    made = DeviceFlag(next(_NUMBERS), device)
    _FLAGS[made.number] = made
    return made


@torch.library.custom_op("bruit::tell", mutates_args=())
def tell(flag: Tensor, number: int) -> Tensor:
    """Copies a boolean tensor to the device flag with this number; returns a copy so that tracing keeps the op."""
    _FLAGS[number].here.copy_(flag.to(torch.uint8), non_blocking=True)
    return flag.clone()


@tell.register_fake
def _(flag: Tensor, number: int) -> Tensor:  # noqa: ARG001
    return flag.new_empty(())
