"""Notes whether code looks at the values of tensors: it may then do something else at other values."""

from __future__ import annotations

from collections.abc import Callable

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
