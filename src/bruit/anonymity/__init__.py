"""What a table gives away without noise; generalisation; reconstruction."""

from bruit.anonymity.check import Check, ColumnCheck, check
from bruit.anonymity.generalise import Generalised, generalise
from bruit.anonymity.hierarchies import Hierarchy, Intervals, Prefixes, Tree, intervals, prefixes, tree
from bruit.anonymity.marginals import Marginal, private_marginals
from bruit.anonymity.notice import NOT_A_RELEASE
from bruit.anonymity.pseudonyms import Pseudonymised, draw_pseudonym_key, pseudonymise
from bruit.anonymity.reconstruction import (
    HadamardQueries,
    Reconstruction,
    Recovery,
    random_queries,
    reconstruct,
    simulate_reconstruction,
)
from bruit.anonymity.report import Report, report
from bruit.anonymity.risk import Disclosure, Linkage, Risk, risk
from bruit.anonymity.scan import Finding, Scan, scan
from bruit.anonymity.singling import SinglingSet

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
    "Prefixes",
    "Pseudonymised",
    "Reconstruction",
    "Recovery",
    "Report",
    "Risk",
    "Scan",
    "SinglingSet",
    "Tree",
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
