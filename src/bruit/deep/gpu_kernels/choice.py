"""Decides when the Triton kernels are used."""

from __future__ import annotations

import importlib.util
from functools import cache

import torch
from torch import Tensor


def can_fuse(*values: Tensor) -> bool:
    """Whether all values are bfloat16 on a GPU that Triton compiles for."""
    return all(each.is_cuda and each.dtype == torch.bfloat16 for each in values) and has_triton()


@cache
def has_triton() -> bool:
    """Whether Triton is installed."""
    return importlib.util.find_spec("triton") is not None
