"""Fixes the dtype of a private computation, whatever autocast surrounds it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch


def in_precision(device: torch.device, precision: torch.dtype | None = None) -> AbstractContextManager[Any]:
    """Runs layers in a given dtype while the context is open; None leaves their own dtype.

    An autocast around the caller must not reach norms and sums: a sum rounded to bfloat16 has no bounded sensitivity.
    """
    if not torch.amp.is_autocast_available(device.type):
        return nullcontext()
    return torch.autocast(device.type, precision, enabled=precision is not None)
