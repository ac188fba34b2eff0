"""Turns many noised answers into estimates with intervals: randomise → tally → estimate."""

from bruit.local.answers import Answers
from bruit.local.attributes import Attributes, Faked
from bruit.local.basic_rappor import BasicRappor
from bruit.local.choosing import Choice, choose, choose_mean
from bruit.local.client import Client
from bruit.local.evolving import LOLOHA
from bruit.local.files import read_protocol, read_reports, tally_files, tally_files_on_spark, write_reports
from bruit.local.hadamard import HadamardResponse
from bruit.local.hashing import BLH, OLH
from bruit.local.krr import KRR
from bruit.local.longitudinal import Longitudinal, LongitudinalKRR, LongitudinalOUE
from bruit.local.mean import MeanTally, OneBitMean
from bruit.local.mean_files import mean_from_json, mean_tally_from_json, tally_mean_files
from bruit.local.mean_protocol import MeanProtocol, MeanReports
from bruit.local.protocol import FrequencyProtocol, protocol_from_json
from bruit.local.rappor import Rappor, RapporReports, RapporTally, rappor_from_json, rappor_tally_from_json
from bruit.local.rappor_client import RapporClient, load_client
from bruit.local.rappor_decoding import Decoder, decode, detection_limit
from bruit.local.rappor_design import read_candidates
from bruit.local.rappor_files import read_rappor_protocol, tally_rappor_files, write_rappor_reports
from bruit.local.rappor_law import RapporLaw
from bruit.local.rappor_selection import Selection
from bruit.local.rappor_simulation import drawn_tally
from bruit.local.shuffling import shuffled, shuffled_delta
from bruit.local.sketches import CountMeanSketch, HadamardSketch
from bruit.local.subset import SubsetSelection
from bruit.local.support import Support
from bruit.local.tally import Reports, Tally, tally_from_json
from bruit.local.telemetry import DBitFlip
from bruit.local.unary import OUE, SUE
from bruit.local.warner import ForcedYes, Warner, two_coins
from bruit.local.window import PiecewiseMean, WindowTally

__all__ = [
    "BLH",
    "KRR",
    "LOLOHA",
    "OLH",
    "OUE",
    "SUE",
    "Answers",
    "Attributes",
    "BasicRappor",
    "Choice",
    "Client",
    "CountMeanSketch",
    "DBitFlip",
    "Decoder",
    "Faked",
    "ForcedYes",
    "FrequencyProtocol",
    "HadamardResponse",
    "HadamardSketch",
    "Longitudinal",
    "LongitudinalKRR",
    "LongitudinalOUE",
    "MeanProtocol",
    "MeanReports",
    "MeanTally",
    "OneBitMean",
    "PiecewiseMean",
    "Rappor",
    "RapporClient",
    "RapporLaw",
    "RapporReports",
    "RapporTally",
    "Reports",
    "Selection",
    "SubsetSelection",
    "Support",
    "Tally",
    "Warner",
    "WindowTally",
    "choose",
    "choose_mean",
    "decode",
    "detection_limit",
    "drawn_tally",
    "load_client",
    "mean_from_json",
    "mean_tally_from_json",
    "protocol_from_json",
    "rappor_from_json",
    "rappor_tally_from_json",
    "read_candidates",
    "read_protocol",
    "read_rappor_protocol",
    "read_reports",
    "shuffled",
    "shuffled_delta",
    "tally_files",
    "tally_files_on_spark",
    "tally_from_json",
    "tally_mean_files",
    "tally_rappor_files",
    "two_coins",
    "write_rappor_reports",
    "write_reports",
]
