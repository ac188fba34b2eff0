"""The state of the generators that a model may draw from: torch's, NumPy's and Python's own."""

from __future__ import annotations

import random

import numpy as np
import torch


class RandomState:
    """Where the global generators of this process stand, to go back to."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._cpu = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state(device) if device.type == "cuda" else None
        self._numpy, self._python = np.random.get_state(), random.getstate()  # noqa: NPY002

    def restore(self) -> None:
        """Sets the generators back."""
        torch.set_rng_state(self._cpu)
        if self._cuda is not None:
            torch.cuda.set_rng_state(self._cuda, self._device)
        np.random.set_state(self._numpy)  # noqa: NPY002
        random.setstate(self._python)
