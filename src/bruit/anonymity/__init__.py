"""What a table gives away without noise; generalisation; reconstruction."""

from bruit.anonymity.notice import NOT_A_RELEASE
from bruit.anonymity.risk import Disclosure, Linkage, Risk, risk

__all__ = ["NOT_A_RELEASE", "Disclosure", "Linkage", "Risk", "risk"]
