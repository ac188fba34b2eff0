"""Turns many noised answers into estimates with intervals: randomise → tally → estimate."""

from bruit.local.answers import Answers
from bruit.local.basic_rappor import BasicRappor
from bruit.local.hadamard import HadamardResponse
from bruit.local.hashing import BLH, OLH
from bruit.local.krr import KRR
from bruit.local.protocol import FrequencyProtocol, protocol_from_json
from bruit.local.rappor import Rappor, RapporReports, RapporTally, rappor_from_json
from bruit.local.rappor_client import RapporClient, load_client
from bruit.local.rappor_law import RapporLaw
from bruit.local.support import Support
from bruit.local.tally import Reports, Tally, tally_from_json
from bruit.local.unary import OUE, SUE
from bruit.local.warner import ForcedYes, Warner, two_coins

__all__ = [
    "BLH",
    "KRR",
    "OLH",
    "OUE",
    "SUE",
    "Answers",
    "BasicRappor",
    "ForcedYes",
    "FrequencyProtocol",
    "HadamardResponse",
    "Rappor",
    "RapporClient",
    "RapporLaw",
    "RapporReports",
    "RapporTally",
    "Reports",
    "Support",
    "Tally",
    "Warner",
    "load_client",
    "protocol_from_json",
    "rappor_from_json",
    "tally_from_json",
    "two_coins",
]
