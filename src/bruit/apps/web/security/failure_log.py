"""Logs each kind of database failure at most once a minute, without values, and reports it to health checks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from bruit.apps.web.security.safe_logs import OWN, place
from bruit.errors import BruitError
from bruit.storage import FailureKind, failure_kind

PAUSE: Final = 60.0
"""Seconds for which a kind of failure is not written again."""

log = logging.getLogger(OWN)


@dataclass
class FailureLog:
    """The database failures of one application; `current` is that of the last commit, None if it succeeded."""

    clock: Callable[[], float] = time.monotonic
    current: FailureKind | None = None
    _written: dict[str, float] = field(default_factory=dict)

    def note(self, error: BaseException) -> None:
        """Logs the kind of a failure, unless it was logged within the last minute."""
        kind = failure_kind(error)
        self.current = kind
        unforeseen = kind is FailureKind.OTHER and not isinstance(error, BruitError)
        said = place(error) if unforeseen else kind.value
        now = self.clock()
        if now - self._written.get(said, -PAUSE) >= PAUSE:
            self._written[said] = now
            log.error("%s", said)

    def clear(self) -> None:
        """Records that the database works again."""
        self.current = None
