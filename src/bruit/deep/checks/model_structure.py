"""Examines a model before any data is read: which layers have a rule, and whether samples stay independent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_iter

from bruit.deep.checks.sample_independence import BATCH, WATCHED, invented_batch, mixing, require_separate, zeros_of
from bruit.deep.per_sample.layer_hooks import Call, record_calls
from bruit.deep.per_sample.rules import instead_of, rule_of
from bruit.errors import InvalidArgument, NotPrivate

MIXES = (nn.modules.batchnorm._BatchNorm,)
"""Layers whose output for one sample depends on the others."""


@dataclass(frozen=True)
class Structure:
    """The layers with a per-sample gradient rule, by path, and the parameter names left to the vmap fallback."""

    ruled: Mapping[str, nn.Module]
    rest: tuple[str, ...]
    names: Mapping[int, str] = field(repr=False)

    @staticmethod
    def layer_of(name: str) -> str:
        """The path of the layer that owns a parameter."""
        return name.rpartition(".")[0]


def examine(model: nn.Module, example: Sequence[Tensor]) -> Structure:
    """The layers with rules and the remaining trainable parameters; refuses parts that cannot be trained privately.

    `example` has the shapes and types of the inputs, batch first; its values are not looked at.
    """
    require_separate_layers(model)
    _require_no_gradient_hooks(model)
    names = {id(parameter): name for name, parameter in model.named_parameters() if parameter.requires_grad}
    trainable(model)
    owners = [(path, layer) for path, layer in model.named_modules() if _trains(layer)]
    loose = _shared_parameters(model, example) | {id(p) for _, layer in owners for p in _unserved(layer)}
    ruled = {path: layer for path, layer in owners if any(id(p) not in loose for p in _trainable(layer))}
    for path in _not_samples_first(model, ruled, example):
        loose |= {id(p) for p in _trainable(ruled[path])}
    _require_separate_samples(model, example)
    return Structure(names=names, **_sorted(owners, names, loose))


def without_rules(structure: Structure, model: nn.Module, left: Iterable[str]) -> Structure:
    """The structure with more parameters left to the vmap fallback."""
    own = dict(model.named_parameters())
    loose = {id(own[name]) for name in (*structure.rest, *left)}
    owners = [(path, layer) for path, layer in model.named_modules() if _trains(layer)]
    return Structure(names=structure.names, **_sorted(owners, structure.names, loose))


def _sorted(owners: Sequence[tuple[str, nn.Module]], names: Mapping[int, str], loose: Set[int]) -> dict[str, Any]:
    """The layers whose rules serve some of their parameters, and the names of the others."""
    ruled = {path: layer for path, layer in owners if any(id(p) not in loose for p in _trainable(layer))}
    return {"ruled": ruled, "rest": tuple(name for key, name in names.items() if key in loose)}


def trainable(model: nn.Module) -> list[nn.Parameter]:
    """The trainable parameters of a model; refuses a model without any."""
    if not isinstance(model, nn.Module):
        raise InvalidArgument(f"model of type {type(model).__name__}: give a torch.nn.Module")
    found = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not found:
        raise InvalidArgument("the model has no trainable parameter: set requires_grad_(True) on those to train")
    if any(not parameter.is_floating_point() for parameter in found):
        raise InvalidArgument(
            "a parameter to train is complex, and noise is drawn for real numbers: keep its real and imaginary part in "
            "two parameters, or in one as torch.view_as_real gives them"
        )
    return found


def _require_no_gradient_hooks(model: nn.Module) -> None:
    """Refuses hooks on the gradients of parameters: a private step builds these otherwise and would not call them."""
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and (parameter._backward_hooks or parameter._post_accumulate_grad_hooks):
            raise InvalidArgument(
                f"the parameter {name!r} has a hook on its gradient, which a private step does not call: take it off, "
                "and do to the noisy gradient what it did in the step of an optimiser of your own"
            )


def require_separate_layers(model: nn.Module) -> None:
    """Refuses layers that are known to mix the samples of a batch, such as batch norm."""
    for path, layer in model.named_modules():
        tracks = isinstance(layer, nn.modules.instancenorm._InstanceNorm) and layer.track_running_stats
        if (isinstance(layer, MIXES) or tracks) and not _stands_still(layer):
            raise NotPrivate(
                f"the layer {path or '(the model)'!r} is a {type(layer).__name__}, which mixes the samples of a "
                "batch, so that no sample has a gradient of its own: model = bruit.deep.replace_batch_norm(model) "
                "puts group norms in its place"
            )


def _stands_still(layer: Any) -> bool:
    """Whether a layer is in eval mode, so that its running statistics are constants."""
    return not layer.training and layer.running_mean is not None


def _trainable(layer: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in layer.parameters(recurse=False) if parameter.requires_grad]


def _unserved(layer: nn.Module) -> Iterator[nn.Parameter]:
    """The parameters of a layer for which no rule gives a gradient, such as one that a user hung on a linear layer."""
    served = () if rule_of(layer) is None else ("weight", "bias", *getattr(layer, "_flat_weights_names", ()))
    yield from (parameter for name, parameter in layer.named_parameters(recurse=False) if name not in served)


def _trains(layer: nn.Module) -> bool:
    return bool(_trainable(layer))


class _Uses(TorchFunctionMode):
    """Notes every parameter that a function was given outside the call of the layer it belongs to."""

    def __init__(self, homes: Mapping[int, set[int]]) -> None:
        super().__init__()
        self.homes, self.inside, self.elsewhere = homes, list[int](), set[int]()

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        for value in tree_iter((args, kwargs)):
            known = self.homes.get(id(value))
            if known is not None and _computes(function) and not (self.inside and self.inside[-1] in known):
                self.elsewhere.add(id(value))
        return function(*args, **(kwargs or {}))


def _computes(function: Callable[..., Any]) -> bool:
    """Whether a function uses values: reading an attribute such as .shape or .device does not."""
    return getattr(function, "__name__", "") not in ("__get__", "dim", "size", "__hash__", "numel")


def _shared_parameters(model: nn.Module, example: Sequence[Tensor]) -> set[int]:
    """The parameters that the model uses outside the layers they belong to, by one pass over zeros."""
    homes: dict[int, set[int]] = {}
    for layer in model.modules():
        for parameter in _trainable(layer):
            homes.setdefault(id(parameter), set()).add(id(layer))
    uses, given = _Uses(homes), [zeros_of(part, 2) for part in example]
    before = [part._version for part in given]
    with torch.enable_grad(), uses, _stack(model, uses.inside):
        model(*given)
    if [part._version for part in given] != before:
        raise InvalidArgument(
            "the model writes into its inputs, which a private step may read more than once: let it begin with a copy, "
            "values = values.clone()"
        )
    return uses.elsewhere


@contextmanager
def _stack(model: nn.Module, inside: list[int]) -> Iterator[None]:
    """Keeps the list of the layers that are being called."""
    handles = []
    for layer in model.modules():
        handles.append(layer.register_forward_pre_hook(lambda layer, _: inside.append(id(layer))))
        handles.append(layer.register_forward_hook(lambda *_: _left(inside)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _left(inside: list[int]) -> None:
    inside.pop()


def _not_samples_first(model: nn.Module, ruled: Mapping[str, nn.Module], example: Sequence[Tensor]) -> set[str]:
    """The layers whose first dimension is not the samples' at some size of batch: no rule can serve them.

    Nor can one where calls cannot be recorded, as within a vmap of the model's own.
    """
    apart = {path for path, layer in ruled.items() if instead_of(layer) is not None and not layer.batch_first}
    anchor = torch.zeros((), device=example[0].device, requires_grad=True)
    served = {path: layer for path, layer in ruled.items() if path not in apart}
    for batch in (2, 3):
        try:
            with record_calls(served, anchor, instead=instead_of) as calls:
                model(*(zeros_of(part, batch) for part in example))
        except (RuntimeError, InvalidArgument):  # the model itself has taken zeros before
            return set(ruled)
        apart |= {call.path for call in calls if call.inputs.dim() == 0 or len(call.inputs) != batch}
    return apart


def require_rows(call: Call, batch: int) -> None:
    """Refuses a layer call whose input does not have one row for each sample."""
    if len(call.inputs) != batch:
        raise InvalidArgument(
            f"the layer {call.path!r} was given {len(call.inputs)} rows for {batch} samples: samples must come first "
            "in every layer (batch_first=True), so that each one's gradient can be told"
        )


@contextmanager
def _still_buffers(model: nn.Module) -> Iterator[None]:
    """Refuses a model whose forward pass writes into its buffers, where no noise would cover it."""
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    yield
    for name, buffer in model.named_buffers():
        if name not in before or not torch.equal(before[name], buffer):
            raise NotPrivate(
                f"the model changes its buffer {name!r} as it sees data, and no noise covers that: take it out, or "
                "put the layer into eval mode"
            )


def _require_separate_samples(model: nn.Module, example: Sequence[Tensor]) -> None:
    """Refuses a model in which the output of one sample moves with the input of another.

    Values tell of what has no gradient, such as integers and detached statistics; gradients tell of effects that are
    too small to be told from rounding.
    """

    def describe(inputs: list[Tensor]) -> list[Tensor]:
        with torch.enable_grad():  # as in a step: a model may differentiate its own outputs
            return list(_rows(model(*inputs), len(inputs[0])))

    with _still_buffers(model):
        require_separate(model, describe, example, "the output")
        _require_separate_gradients(model, example)


def _rows(outputs: Any, batch: int) -> Iterator[Tensor]:
    """The rows of one sample in all outputs whose first dimension is the batch."""
    for value in tree_iter(outputs):
        if isinstance(value, Tensor) and value.dim() and len(value) == batch:
            yield value[WATCHED]


def _require_separate_gradients(model: nn.Module, example: Sequence[Tensor]) -> None:
    inputs = invented_batch(example, BATCH, 1)
    moving = [part.requires_grad_() for part in inputs if part.is_floating_point()]
    with torch.enable_grad():
        total = sum(row.float().sum() for row in _rows(model(*inputs), BATCH))
    if not moving or not isinstance(total, Tensor) or not total.requires_grad:
        return
    found = torch.autograd.grad(total, moving, allow_unused=True)
    if any(gradient is not None and _moves(gradient) for gradient in found):
        raise mixing("the output")


def _moves(gradient: Tensor) -> bool:
    """Whether the gradient is non-zero at other samples; NaN decides nothing."""
    others = torch.cat([gradient[:WATCHED], gradient[WATCHED + 1 :]])
    return bool(others.nan_to_num(0, 0, 0).any())
