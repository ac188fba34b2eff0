"""How long a request may take to arrive: whoever sends a byte a minute would hold a connection for ever."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """A request is waited for `seconds`, and one second more for every `bytes_a_second` of it that came."""

    seconds: float = 20.0
    bytes_a_second: int = 1024

    def until(self, began: float, came: int) -> float:
        """When a request that began then, and of which so many bytes came, is given up."""
        return began + self.seconds + came / self.bytes_a_second
