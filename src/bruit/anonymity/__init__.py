"""Disclosure risk of tables without noise, generalisation to k-anonymity, pseudonyms, reconstruction attacks."""

from bruit.anonymity.anomalies import Check, ColumnCheck, check
from bruit.anonymity.disclosure.identifier_scan import Finding, Scan, scan
from bruit.anonymity.disclosure.marginals import Marginal, private_marginals
from bruit.anonymity.disclosure.risk_report import Report, report
from bruit.anonymity.disclosure.risks import Disclosure, Linkage, Risk, risk
from bruit.anonymity.disclosure.singling_out import SinglingSet
from bruit.anonymity.generalisation.generalising import Generalised, generalise
from bruit.anonymity.generalisation.hierarchies import (
    Hierarchy,
    Intervals,
    Prefixes,
    TreeHierarchy,
    intervals,
    prefixes,
    tree,
)
from bruit.anonymity.notice import NOT_A_RELEASE
from bruit.anonymity.pseudonyms import Pseudonymised, draw_pseudonym_key, pseudonymise
from bruit.anonymity.reconstruction import (
    HadamardQueries,
    Method,
    Reconstruction,
    Recovery,
    random_queries,
    reconstruct,
    simulate_reconstruction,
)

__all__ = [
    "NOT_A_RELEASE",
    "Check",
    "ColumnCheck",
    "Disclosure",
    "Finding",
    "Generalised",
    "HadamardQueries",
    "Hierarchy",
    "Intervals",
    "Linkage",
    "Marginal",
    "Method",
    "Prefixes",
    "Pseudonymised",
    "Reconstruction",
    "Recovery",
    "Report",
    "Risk",
    "Scan",
    "SinglingSet",
    "TreeHierarchy",
    "check",
    "draw_pseudonym_key",
    "generalise",
    "intervals",
    "prefixes",
    "private_marginals",
    "pseudonymise",
    "random_queries",
    "reconstruct",
    "report",
    "risk",
    "scan",
    "simulate_reconstruction",
    "tree",
]
