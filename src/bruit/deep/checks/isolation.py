"""Decides, for each mode of a model and each shape of batch, whether its samples may be computed together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from bruit.deep.checks.isolation_proof import proves_isolation, what_is_summed
from bruit.deep.checks.sample_independence import are_separate, layer_modes, zeros_of
from bruit.deep.per_sample.precision import in_precision
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.errors import NotPrivate

PROVED_AT = 5
"""The size of the batch whose graph is proved; others must run the same operations."""

ANOTHER_SIZE = 3
"""What a sample is told must not depend on how many there are: no number in the operations follows the size."""

SIZES = {"slice": {3}, "slice_backward": {3, 4}, "native_group_norm": {3}, "native_group_norm_backward": {5}}
"""Places of single whole numbers that do follow it, as lengths; lists of whole numbers are shapes everywhere."""


class ComputedAlone(UserWarning):
    """Warns that samples are computed one by one, since nothing proves that the model keeps them separate."""


class Isolation:
    """Whether a model computes the samples of a batch independently, by proof or by an examination on made-up batches.

    Where neither holds, gradients are computed for one sample at a time, in which no other can be seen: slower, and
    right whatever the model does. With `assumed` an examination on made-up batches of the very shape takes the place of
    the proof, and the guarantee says so.
    """

    def __init__(
        self,
        model: nn.Module,
        ruled: Mapping[str, nn.Module],
        loss: Loss,
        *,
        precision: torch.dtype | None = None,
        assumed: bool = False,
    ) -> None:
        self.model, self.ruled, self.loss, self.precision, self.assumed = model, ruled, loss, precision, assumed
        self._proved: dict[Any, bool] = {}
        self._holds: dict[Any, bool] = {}
        self._operations: dict[Any, list[Any]] = {}

    def is_proved(self, inputs: Sequence[Tensor], targets: Tensor) -> bool:
        """Whether the traced graph of a step proves the samples independent, in the layers' current modes."""
        key = (layer_modes(self.model), _kinds((*inputs, targets)))
        if key not in self._proved:
            parts = [zeros_of(part, PROVED_AT) for part in (*inputs, targets)]
            with attributes_kept(self.model), _made_up():
                self._proved[key] = proves_isolation(
                    self.model, self.ruled, self.loss, parts[:-1], parts[-1], precision=self.precision
                ) and self._same_operations(parts[:-1], parts[-1])
        return self._proved[key]

    def holds(self, inputs: Sequence[Tensor], targets: Tensor) -> bool:
        """Whether samples of a batch of these shapes may be computed together; their values are not looked at."""
        key = (layer_modes(self.model), len(targets), _kinds((*inputs, targets)))
        if key not in self._holds:
            self._holds[key] = self._decide(inputs, targets)
            if not self._holds[key] and not any(self._holds.values()):
                _warn_once(self.model)
        return self._holds[key]

    def _decide(self, inputs: Sequence[Tensor], targets: Tensor) -> bool:
        try:
            if self.is_proved(inputs, targets):
                return self._same_operations(inputs, targets)
            return self.assumed and self._passes(inputs, targets)
        except NotPrivate:  # in a mode or at a size that comes up after the charge: computed alone, not refused
            return False

    def _same_operations(self, inputs: Sequence[Tensor], targets: Tensor) -> bool:
        """Whether a batch of this size runs what was proved: code may branch by the number of samples."""
        key = (layer_modes(self.model), _kinds((*inputs, targets)))
        if key not in self._operations:
            self._operations[key] = self._run(inputs, targets, ANOTHER_SIZE)
        return self._run(inputs, targets, len(targets)) == self._operations[key]

    def _run(self, inputs: Sequence[Tensor], targets: Tensor, batch: int) -> list[Any]:
        parts = [zeros_of(part, batch) for part in (*inputs, targets)]
        noted = _Operations()
        with attributes_kept(self.model), _made_up(), in_precision(targets.device, self.precision), noted:
            what_is_summed(self.model, self.ruled, self.loss, tuple(parts[:-1]), parts[-1], None)
        return noted.found

    def _passes(self, inputs: Sequence[Tensor], targets: Tensor) -> bool:
        """Whether examples of a batch of this size show no mixing."""

        def losses(batch: list[Tensor], watched: int) -> list[Tensor]:
            *given, labels = batch
            with torch.no_grad(), in_precision(labels.device, self.precision):
                return [self.loss(self.model(*given), labels)[watched]]

        with attributes_kept(self.model):
            return are_separate(self.model, losses, (*inputs, targets), len(targets))


class _Operations(TorchDispatchMode):
    """Notes every operation with its numbers, but for shapes, which follow the batch."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: list[Any] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = function._schema.name.removeprefix("aten::")
        given = (*args, *(kwargs or {}).values())
        numbers = tuple(
            repr(each)  # equal for what is not a number too
            for place, each in enumerate(given)
            if isinstance(each, int | float | bool) and place not in SIZES.get(name, ())
        )
        self.found.append((name, numbers))
        return function(*args, **(kwargs or {}))


@contextmanager
def attributes_kept(model: nn.Module) -> Iterator[None]:
    """Restores the model's buffers and attributes on exit, and refuses a model that kept a computed tensor in them."""
    remembered: list[str] = []
    with put_back(model, remembered):
        yield
    if remembered:
        raise NotPrivate(
            f"the model keeps a tensor that it computed from its inputs in its attribute {remembered[0]!r}, where no "
            "noise covers it and later samples can meet it: compute every output from the inputs and the parameters "
            "alone"
        )


@contextmanager
def put_back(model: nn.Module, remembered: list[str] | None = None) -> Iterator[None]:
    """Restores a model's buffers and tensor attributes on exit; adds the names of those written to `remembered`."""
    before = [(layer, dict(vars(layer)), dict(layer._buffers)) for layer in model.modules()]
    values = [(buffer, buffer.clone()) for buffer in model.buffers()]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, value in values:
                buffer.copy_(value)
        found = [name for layer, own, buffers in before for name in _restore_layer(layer, own, buffers)]
        if remembered is not None:
            remembered += found


def _restore_layer(layer: nn.Module, own: Mapping[str, Any], buffers: Mapping[str, Any]) -> list[str]:
    """The names of the tensors that a layer wrote into its attributes, which are as they were afterwards."""
    layer._buffers.update(buffers)
    written = [name for name, value in vars(layer).items() if isinstance(value, Tensor) and own.get(name) is not value]
    for name in written:
        vars(layer).pop(name)
        if name in own:
            vars(layer)[name] = own[name]
    return written


@contextmanager
def _made_up() -> Iterator[None]:
    """Keeps what torch says of made-up batches from the user, who gave none, and their casts from later steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.clear_autocast_cache()  # within an outer autocast one run would use the casts of another
        try:
            yield
        finally:
            torch.clear_autocast_cache()


def _kinds(parts: Sequence[Tensor]) -> tuple[Any, ...]:
    return tuple((tuple(part.shape[1:]), part.dtype) for part in parts)


def _warn_once(model: nn.Module) -> None:
    warnings.warn(
        f"nothing proves that {type(model).__name__} keeps the samples of a batch apart, so that they are computed one "
        "by one: slower, and right whatever it does. assume_separate=True computes them together after an examination "
        "instead, and the guarantee then says that it assumes so",
        ComputedAlone,
        stacklevel=4,
    )
