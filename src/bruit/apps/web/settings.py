"""The settings of the application: database, steward, limits."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

from bruit.apps.web.security.rate_limits import Rate
from bruit.apps.web.security.timeouts import RequestDeadline

KEY_BYTES = 18
REPORT_RATE = 100
REPORT_BURST = 30
"""Reports that an address may send at once, in seconds of its rate: a lecture hall shares one address."""
RATES = {
    "pages": Rate(per_second=200, burst=2000),
    "reports": Rate(per_second=REPORT_RATE, burst=REPORT_BURST * REPORT_RATE),
    "actions": Rate(per_second=5, burst=200),
    "passwords": Rate(per_second=0.2, burst=10),
}
"""Reading a page, sending a report, changing something, trying a password."""


@dataclass(frozen=True)
class Settings:
    """The settings of the application: its database, its steward's key, and its limits per client.

    Only the hash of the steward's key is kept. `rates` are per client address: reports are many, because a class
    shares one address; tries of a password are few. `deadline` is how long a request may take to arrive. `descriptors`
    are the files that the process may open: connections and event streams are fitted to them.
    """

    database: str
    key_hash: str
    public_url: str | None = None
    descriptors: int = 1024
    rates: dict[str, Rate] = field(default_factory=lambda: RATES.copy())
    deadline: RequestDeadline = field(default_factory=RequestDeadline)


def rates_for(reports_a_second: float) -> dict[str, Rate]:
    """The default rate limits, with another rate for the reports of one address."""
    reports = Rate(per_second=reports_a_second, burst=max(1, round(REPORT_BURST * reports_a_second)))
    return RATES | {"reports": reports}


def new_key() -> str:
    """A fresh secret for a link: 144 bits from the operating system."""
    return secrets.token_urlsafe(KEY_BYTES)


def hash_secret(secret: str) -> str:
    """The SHA-256 of a secret of at least 128 random bits, which needs no salt and no slow hash."""
    return hashlib.sha256(b"bruit secret:" + secret.encode()).hexdigest()
