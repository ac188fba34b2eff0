"""Audits any callable as a black box: a lower bound on its epsilon, beside what it claims."""

from bruit.audit.auditor import audit, audit_gaussian
from bruit.audit.listening import Heard, listen
from bruit.audit.one_run import audit_one_run, audit_one_run_curve
from bruit.audit.small_tables import Walked, sensitivity
from bruit.audit.tradeoffs import GAUSSIAN, ApproximateTradeOff, GaussianTradeOff, TradeOffs
from bruit.audit.verdict import Verdict

__all__ = [
    "GAUSSIAN",
    "ApproximateTradeOff",
    "GaussianTradeOff",
    "Heard",
    "TradeOffs",
    "Verdict",
    "Walked",
    "audit",
    "audit_gaussian",
    "audit_one_run",
    "audit_one_run_curve",
    "listen",
    "sensitivity",
]
