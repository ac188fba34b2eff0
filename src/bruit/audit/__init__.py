"""Measures any callable from outside and says what epsilon it can really have."""

from bruit.audit.auditor import audit, audit_gaussian
from bruit.audit.one_run import audit_one_run, audit_one_run_curve
from bruit.audit.tradeoffs import GAUSSIAN, Approximate, Gaussian, TradeOffs
from bruit.audit.verdict import Verdict

__all__ = [
    "GAUSSIAN",
    "Approximate",
    "Gaussian",
    "TradeOffs",
    "Verdict",
    "audit",
    "audit_gaussian",
    "audit_one_run",
    "audit_one_run_curve",
]
