"""Measures any callable from outside and says what epsilon it can really have."""

from bruit.audit.auditor import audit
from bruit.audit.verdict import Verdict

__all__ = ["Verdict", "audit"]
