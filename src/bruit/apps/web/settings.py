"""What whoever starts the application decides."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

from bruit.apps.web.patience import Patience
from bruit.apps.web.rates import Rate

KEY_BYTES = 18
RATES = {
    "pages": Rate(per_second=200, burst=2000),
    "reports": Rate(per_second=20_000, burst=40_000),
    "actions": Rate(per_second=5, burst=200),
    "passwords": Rate(per_second=0.2, burst=10),
}
"""Reading a page, sending a report, changing something, trying a password."""


@dataclass(frozen=True)
class Settings:
    """Where the application keeps its data, who its steward is, and how much a client may ask.

    Only the hash of the steward's key is kept. `rates` are per client address: reports are many, because a class
    shares one address; tries of a password are few. `patience` is how long a request may take to arrive.
    """

    database: str
    key_hash: str
    public_url: str | None = None
    rates: dict[str, Rate] = field(default_factory=lambda: RATES.copy())
    patience: Patience = field(default_factory=Patience)


def new_key() -> str:
    """A fresh secret for a link: 144 bits from the operating system."""
    return secrets.token_urlsafe(KEY_BYTES)


def hashed(secret: str) -> str:
    """The SHA-256 of a secret of at least 128 random bits, which needs no salt and no slow hash."""
    return hashlib.sha256(b"bruit secret:" + secret.encode()).hexdigest()
