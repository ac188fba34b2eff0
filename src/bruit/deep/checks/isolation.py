"""Decides, for each mode of a model and each shape of batch, whether its samples may be computed together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor, nn

from bruit.deep.checks.isolation_proof import proves_isolation, what_is_summed
from bruit.deep.checks.model_state import ModelState
from bruit.deep.checks.operations import Operation, Operations, follow
from bruit.deep.checks.sample_independence import are_separate, equal_draws, layer_modes, zeros_of
from bruit.deep.checks.value_reads import Calls, Reads
from bruit.deep.per_sample.precision import in_precision
from bruit.deep.per_sample.rules.embedding import only_known_rows
from bruit.deep.per_sample.rules.recurrent import not_packed
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.errors import NotPrivate

NO_ROOM = (torch.OutOfMemoryError, MemoryError)
"""Errors that are told: they depend on how many samples there are, not on what they hold."""

PROVED_AT = 5
"""The size of the batch whose graph is proved; others must run the same operations."""

PROVED = (3, PROVED_AT)
"""Sizes of batch whose operations a real batch must run too, with shapes that grow with it and with nothing else."""


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
        self._proved: dict[object, bool] = {}
        self._holds: dict[object, bool] = {}
        self._operations: dict[object, list[list[Operation] | None]] = {}
        self._calls: dict[object, list[object]] = {}

    def is_proved(self, inputs: Sequence[Tensor], targets: Tensor) -> bool:
        """Whether the traced graph of a step proves the samples independent, in the layers' current modes."""
        key = (layer_modes(self.model), _kinds((*inputs, targets)))
        if key not in self._proved:
            parts = [zeros_of(part, PROVED_AT) for part in (*inputs, targets)]
            with attributes_kept(self.model), _made_up(targets.device):
                self._proved[key] = proves_isolation(
                    self.model, self.ruled, self.loss, parts[:-1], parts[-1], precision=self.precision
                ) and self._same_operations(parts[:-1], parts[-1])
        return self._proved[key]

    def holds(self, inputs: Sequence[Tensor], targets: Tensor) -> bool:
        """Whether samples of a batch of these shapes may be computed together; their values are not looked at."""
        key = self._key(inputs, targets)
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
        except NO_ROOM:
            raise
        except Exception:  # in a mode or at a size that comes up after the charge: computed alone, not refused
            return False

    def _same_operations(self, inputs: Sequence[Tensor], targets: Tensor) -> bool:
        """Whether a batch of this size runs the operations that were proved; code may branch on its size."""
        key = (layer_modes(self.model), _kinds((*inputs, targets)))
        if key not in self._operations:
            self._operations[key] = [self._run(inputs, targets, size) for size in PROVED]
        runs = [*self._operations[key], self._run(inputs, targets, len(targets))]
        known = [run for run in runs if run is not None]
        return len(known) == len(runs) and follow(known, (*PROVED, len(targets)))

    def watch(self, inputs: Sequence[Tensor], targets: Tensor) -> AbstractContextManager[object]:
        """Stops a pass over such a batch at the first call that the one that was proved did not make."""
        expected = self._calls.get(self._key(inputs, targets)) if self.is_proved(inputs, targets) else None
        return nullcontext() if expected is None else Calls(expected)

    def renew(self, inputs: Sequence[Tensor], targets: Tensor) -> bool:
        """Whether the pass is another one now, since something was cached meanwhile, and keeps samples apart too."""
        key = self._key(inputs, targets)
        before, _ = self._calls.get(key), self._holds.pop(key, None)
        if before is None:  # the pass switched the model to another mode
            return False
        if self.holds(inputs, targets) and self._calls[key] != before:
            return True
        self._holds[key], self._calls[key] = True, before  # what was proved still is, of passes that do the same
        return False

    def require_no_memory(self, inputs: Sequence[Tensor], targets: Tensor) -> None:
        """Refuses a model or a loss that keeps something of a batch outside the model, where the next one meets it."""
        self._run(inputs, targets, PROVED_AT, refuses=True)

    def _key(self, inputs: Sequence[Tensor], targets: Tensor) -> object:
        return (layer_modes(self.model), len(targets), _kinds((*inputs, targets)))

    def _run(
        self, inputs: Sequence[Tensor], targets: Tensor, batch: int, *, refuses: bool = False
    ) -> list[Operation] | None:
        """The operations of a step on zeros; None where values were read, which a tracer may not have seen."""
        parts = [zeros_of(part, batch) for part in (*inputs, targets)]
        noted = Operations(parts, [*self.model.parameters(), *ModelState(self.model).tensors()])
        reads, calls = Reads(), Calls()
        with (
            attributes_kept(self.model),
            _made_up(targets.device),
            in_precision(targets.device, self.precision),
            only_known_rows(self.model),
            not_packed(self.model),
            noted,
            reads,
        ):
            what_is_summed(self.model, self.ruled, self.loss, tuple(parts[:-1]), parts[-1], None, calls)
        self._calls[(layer_modes(self.model), batch, _kinds(parts))] = calls.found
        if noted.outlived():
            if refuses:
                raise NotPrivate(
                    "the model or the loss keeps a tensor that it computed from its inputs outside the model, where no "
                    "noise covers it and later samples can meet it: compute every output from the inputs and the "
                    "parameters alone"
                )
            return None
        return None if reads.any else noted.found

    def _passes(self, inputs: Sequence[Tensor], targets: Tensor) -> bool:
        """Whether examples of a batch of this size show no mixing."""

        def losses(batch: list[Tensor], watched: int) -> list[Tensor]:
            *given, labels = batch
            with torch.enable_grad(), in_precision(labels.device, self.precision):
                return [self.loss(self.model(*given), labels)[watched]]

        with attributes_kept(self.model), _made_up(targets.device):
            return are_separate(self.model, losses, (*inputs, targets), len(targets))


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
def put_back(model: nn.Module, remembered: list[str] | None = None, *, weights: bool = False) -> Iterator[None]:
    """Restores a model's buffers and attributes on exit, and its `weights` where asked.

    Names of tensors that were written are added to `remembered`.
    """
    before = ModelState(model, weights=weights)
    try:
        yield
    finally:
        found = before.restore(tell=remembered is not None)
        if remembered is not None:
            remembered += found


@contextmanager
def _made_up(device: torch.device) -> Iterator[None]:
    """Keeps what torch says of made-up batches from the user, and their casts and draws from later steps."""
    with warnings.catch_warnings(), equal_draws(device):
        warnings.simplefilter("ignore")
        torch.clear_autocast_cache()  # within an outer autocast one run would use the casts of another
        try:
            yield
        finally:
            torch.clear_autocast_cache()


def _kinds(parts: Sequence[Tensor]) -> tuple[object, ...]:
    return tuple((tuple(part.shape[1:]), part.dtype) for part in parts)


def _warn_once(model: nn.Module) -> None:
    warnings.warn(
        f"nothing proves that {type(model).__name__} keeps the samples of a batch apart, so that they are computed one "
        "by one: slower, and right whatever it does. assume_separate=True computes them together after an examination "
        "instead, and the guarantee then says that it assumes so",
        ComputedAlone,
        stacklevel=4,
    )
