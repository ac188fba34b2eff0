"""One way to compile a kernel: numba without the interpreter lock, cached on disk where that is possible."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compiles a plain function on arrays; an installation that cannot be written to compiles it in each process.

    A cached kernel may call only kernels of its own file: numba does not notice a change in another one.
    """
    try:
        return cast("Function", numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # numba found no folder for its cache
        return cast("Function", numba.njit(nogil=True)(function))


def inlined(function: Function) -> Function:
    """A part of a kernel of the same file, compiled into it."""
    return cast("Function", numba.njit(nogil=True, inline="always")(function))
