"""RAPPOR: collects texts through noised Bloom filters, repeatedly, and decodes them from a list of candidates."""

from bruit.local.rappor.basic import BasicRappor
from bruit.local.rappor.client import RapporClient
from bruit.local.rappor.decoding import Decoder, decode, detection_limit
from bruit.local.rappor.design import read_candidates
from bruit.local.rappor.law import RapporLaw, optimal_f
from bruit.local.rappor.protocol import Rappor
from bruit.local.rappor.selection import SELECTIONS
from bruit.local.rappor.simulation import drawn_tally
from bruit.local.rappor.tally import RapporReports, RapporTally

__all__ = [
    "SELECTIONS",
    "BasicRappor",
    "Decoder",
    "Rappor",
    "RapporClient",
    "RapporLaw",
    "RapporReports",
    "RapporTally",
    "decode",
    "detection_limit",
    "drawn_tally",
    "optimal_f",
    "read_candidates",
]
