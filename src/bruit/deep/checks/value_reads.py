"""Notes what code asks of torch, above all for the values of tensors: it may do something else at other values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from torch.overrides import TorchFunctionMode

READS = frozenset(
    ["item", "tolist", "numpy", "equal", "allclose", "is_nonzero", "data_ptr", "storage", "untyped_storage", "backward"]
) | {
    f"__{name}__"
    for name in (
        "array",
        "bool",
        "int",
        "float",
        "index",
        "complex",
        "contains",
        "repr",
        "format",
        "reduce_ex",
        "dlpack",
    )
}
"""Functions of a tensor that give its values, or their place in memory, to Python, or run what no mode sees."""

BATCHED: Final = (torch._C.DispatchKey.FuncTorchBatched, torch._C.DispatchKey.CompositeImplicitAutograd)
"""Where the code of an operation of a user's own is run with the whole batch, or may call what is."""

TORCHS_OWN: Final = frozenset({"aten", "prims", "prim"})
"""Names of operations whose rules for batches are those of torch."""


class Reads(TorchFunctionMode):
    """Notes whether values of tensors were read while the context is open."""

    def __init__(self) -> None:
        super().__init__()
        self.any = False

    def __torch_function__(
        self,
        function: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        self.any = self.any or _reads(function, kwargs)
        return _called(self, function, args, kwargs or {})


class OfOne(Reads):
    """Stops a pass under vmap, as of one sample, before a call that would be given the numbers of the whole batch."""

    def __torch_function__(
        self,
        function: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        if _reads(function, kwargs) or _has_own_rule(function, args):
            self.any = True
            raise Strayed
        return super().__torch_function__(function, types, args, kwargs)


class Calls(TorchFunctionMode):
    """Notes every call of a torch function; with `expected` the first call that is another stops the pass before it."""

    def __init__(self, expected: list[object] | None = None) -> None:
        super().__init__()
        self.found, self._expected, self.strayed = list[object](), expected, False

    def __torch_function__(
        self,
        function: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        call = (function, *map(_without_tensors, args), _without_tensors(kwargs) if kwargs else None)
        place = len(self.found)
        if self._expected is not None and (place >= len(self._expected) or self._expected[place] != call):
            self.strayed = True
            raise Strayed
        self.found.append(call)
        return _called(self, function, args, kwargs or {})

    def is_whole(self) -> bool:
        """Whether all calls that were expected came, and no other."""
        return not self.strayed and (self._expected is None or len(self._expected) == len(self.found))


class Strayed(BaseException):
    """Stops a pass that does something else than what was proved; not an `Exception`, which models may catch."""


def _reads(function: object, kwargs: dict[str, object] | None) -> bool:
    """Whether a call gives values to Python, or runs a backward pass of which nothing is seen."""
    unseen = function is torch.autograd.grad and bool(kwargs) and bool((kwargs or {}).get("is_grads_batched"))
    return unseen or getattr(function, "__name__", "") in READS


def _has_own_rule(function: object, args: Sequence[object]) -> bool:
    """Whether code that is not torch's may say what a call under vmap does with the whole batch."""
    if isinstance(function, HigherOrderOperator):  # for a torch.autograd.Function the first argument is its class
        return not getattr(args[0], "__module__", "").startswith("torch.")
    if isinstance(function, OpOverloadPacket):
        return any(_has_own_rule(getattr(function, each), args) for each in function.overloads())
    if not isinstance(function, OpOverload) or function.namespace in TORCHS_OWN:
        return False
    return any(function.has_kernel_for_dispatch_key(each) for each in BATCHED)


def _called(mode: TorchFunctionMode, function: Callable[..., object], args: Sequence[Any], kwargs: Any) -> object:
    """What a call gives; the calls within a backward pass, in hooks for instance, are seen by the mode too."""
    if function is not torch.autograd.grad or kwargs.get("is_grads_batched"):
        return function(*args, **kwargs)
    with torch.autograd.set_multithreading_enabled(False), mode:
        return _gradient(*args, **kwargs)


def _gradient(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    *,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
    **_: bool,
) -> tuple[Tensor | None, ...]:
    """What torch.autograd.grad gives, which to a mode of torch functions would be one call."""
    given = (grad_outputs,) if isinstance(grad_outputs, Tensor) else grad_outputs or (None,) * len(outputs)
    if any(each is None and output.numel() != 1 for each, output in zip(given, outputs, strict=True)):
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    found: tuple[Tensor | None, ...] = torch.autograd.Variable._execution_engine.run_backward(
        tuple(outputs),
        tuple(torch.ones_like(output) if each is None else each for each, output in zip(given, outputs, strict=True)),
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        tuple(inputs),
        allow_unreachable=materialize_grads or bool(allow_unused),
        accumulate_grad=False,
    )
    if not materialize_grads:
        return found
    return tuple(torch.zeros_like(each) if one is None else one for one, each in zip(found, inputs, strict=True))


def _without_tensors(value: object) -> object:
    """A value to be compared, with nothing in the place of tensors, whose contents are not looked at."""
    if value is None or isinstance(value, bool | int | float | str):
        return value if value == value else repr(value)  # what is not a number is equal to none
    if isinstance(value, Tensor):
        return Tensor
    if isinstance(value, tuple | list):
        return tuple(map(_without_tensors, value))
    if isinstance(value, dict):
        return tuple((name, _without_tensors(each)) for name, each in value.items())
    if isinstance(value, slice):
        return (slice, *map(_without_tensors, (value.start, value.stop, value.step)))
    if isinstance(value, np.ndarray | np.generic):
        return (value.shape, value.tobytes())
    return value if type(value).__module__ == "torch" else type(value)
