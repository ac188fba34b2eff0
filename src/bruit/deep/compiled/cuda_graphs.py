"""CUDA graphs: GPU work that is recorded once and replayed, so that the CPU does not launch every kernel again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

Run = Callable[..., list[Tensor]]
"""From tensors to tensors, with the same kernels whatever the values are."""


class Recording:
    """A CUDA graph whose first `fixed` inputs stay at their addresses; other inputs are copied in before each replay.

    Results are copied out, so that they may be kept and changed. The recording holds its memory as long as it lives.
    """

    def __init__(self, run: Run, given: Sequence[Tensor], fixed: int) -> None:
        """Records `run` on the given tensors, which all lie on one GPU (not necessarily torch's current device)."""
        self._device = given[0].device
        self._fixed = list(given[:fixed])
        self._places = _places(self._fixed)
        self._entered = [each.clone() for each in given[fixed:]]
        self._graph = torch.cuda.CUDAGraph()
        with (
            self._there(),
            torch.cuda.graph(self._graph, stream=torch.cuda.Stream(self._device), capture_error_mode="thread_local"),
        ):
            self._results = run(*self._fixed, *self._entered)

    def fits(self, given: Sequence[Tensor]) -> bool:
        """Whether the fixed tensors are still at the addresses that were recorded."""
        return _places(given[: len(self._fixed)]) == self._places

    def __call__(self, *given: Tensor) -> list[Tensor]:
        with self._there():
            torch._foreach_copy_(self._entered, list(given[len(self._fixed) :]))
            self._graph.replay()
            copies = [torch.empty_like(each) for each in self._results]
            torch._foreach_copy_(copies, self._results)
        return copies

    @contextmanager
    def _there(self) -> Iterator[None]:
        """Makes that GPU's stream current while the context is open, also where recording fails."""
        with torch.cuda.device(self._device), torch.cuda.stream(torch.cuda.current_stream(self._device)):
            yield


def _places(tensors: Sequence[Tensor]) -> list[int]:
    return [each.data_ptr() for each in tensors]
