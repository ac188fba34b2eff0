"""Compiles kernels with numba: without the interpreter lock, and cached on disk where that is possible."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compiles a function on arrays with numba, cached on disk; a read-only installation compiles in each process.

    A cached kernel may call only kernels of its own file: numba does not notice a change in another one.
    """
    try:
        return cast("Function", numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # numba found no folder for its cache
        return cast("Function", numba.njit(nogil=True)(function))


def uncounted(function: Function) -> Function:
    """Compiles a helper into the kernels of its file that call it, where it makes no array and counts none.

    Counting references takes an atomic instruction for every slice, and a call passes seven numbers for every array:
    both cost more than a short helper itself.
    """
    options: dict[str, Any] = {"nogil": True, "_nrt": False, "forceinline": True}
    return cast("Function", numba.njit(**options)(function))


def inlined(function: Function) -> Function:
    """Compiles a helper of a kernel so that numba inlines it wherever a kernel of the same file calls it."""
    return cast("Function", numba.njit(nogil=True, inline="always")(function))
