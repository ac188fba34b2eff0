"""A run that was paid for once: it is not copied, and stays in its process."""

from __future__ import annotations

import os
from typing import NoReturn, Self

from bruit.errors import PrivacyError


class OneRun:
    """What has steps left that were paid for; a copy would take them a second time, and no book would know."""

    _process: int

    def __new__(cls, *_: object, **__: object) -> Self:
        """A run of this process."""
        run = super().__new__(cls)
        run._process = os.getpid()
        return run

    def require_own_process(self) -> None:
        """Refuses a forked child, which holds a copy."""
        if os.getpid() != self._process:
            raise PrivacyError("a training stays in its process: two would take the steps that were paid for once")

    def __reduce__(self) -> NoReturn:
        raise PrivacyError("a training cannot be copied: two copies would take the steps that were paid for once")
