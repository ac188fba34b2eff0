"""Audits any callable as a black box: a lower bound on its epsilon, beside what it claims."""

from bruit.audit.auditor import audit, audit_gaussian
from bruit.audit.one_run import audit_one_run, audit_one_run_curve
from bruit.audit.small_tables import Walked, sensitivity
from bruit.audit.tradeoffs import GAUSSIAN, ApproximateTradeOff, GaussianTradeOff, TradeOffs
from bruit.audit.verdict import Verdict
from bruit.audit.zero_noise import SensitivityCheck, check_sensitivity

__all__ = [
    "GAUSSIAN",
    "ApproximateTradeOff",
    "GaussianTradeOff",
    "SensitivityCheck",
    "TradeOffs",
    "Verdict",
    "Walked",
    "audit",
    "audit_gaussian",
    "audit_one_run",
    "audit_one_run_curve",
    "check_sensitivity",
    "sensitivity",
]
