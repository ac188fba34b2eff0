"""Notes what code asks of torch, above all for the values of tensors: it may do something else at other values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch import Tensor
from torch.overrides import TorchFunctionMode

READS = frozenset(
    ["item", "tolist", "numpy", "equal", "allclose", "is_nonzero", "data_ptr", "storage", "untyped_storage"]
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
"""Functions of a tensor that give its values, or where they lie in memory, to Python."""


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
        self.any = self.any or getattr(function, "__name__", "") in READS
        return function(*args, **(kwargs or {}))


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
        return function(*args, **(kwargs or {}))

    def is_whole(self) -> bool:
        """Whether all calls that were expected came, and no other."""
        return not self.strayed and (self._expected is None or len(self._expected) == len(self.found))


class Strayed(BaseException):
    """Stops a pass that does something else than what was proved; not an `Exception`, which models may catch."""


def _without_tensors(value: Any) -> object:
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
