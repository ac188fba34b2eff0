"""Turns many noised answers into estimates with intervals: randomise → tally → estimate."""

from bruit.local.attributes import Attributes
from bruit.local.bit_flip import DBitFlip
from bruit.local.choice import choose, choose_mean
from bruit.local.client import Client
from bruit.local.files import read_protocol, read_reports, tally_files, tally_files_on_spark, write_reports
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.hadamard import HadamardResponse
from bruit.local.hashing import BLH, OLH
from bruit.local.krr import KRR
from bruit.local.loloha import LOLOHA
from bruit.local.longitudinal import LongitudinalKRR, LongitudinalOUE
from bruit.local.means import MeanProtocol, OneBitMean, PiecewiseMean
from bruit.local.protocol import LocalProtocol, protocol_from_json, tally_from_json
from bruit.local.rappor import (
    BasicRappor,
    Rappor,
    RapporClient,
    decode,
    detection_limit,
    read_candidates,
)
from bruit.local.shuffling import shuffled, shuffled_delta
from bruit.local.sketches import CountMeanSketch, HadamardSketch
from bruit.local.subset import SubsetSelection
from bruit.local.tally import Reports, Tally
from bruit.local.unary import OUE, SUE
from bruit.local.warner import ForcedYes, Warner, two_coins

__all__ = [
    "BLH",
    "KRR",
    "LOLOHA",
    "OLH",
    "OUE",
    "SUE",
    "Attributes",
    "BasicRappor",
    "Client",
    "CountMeanSketch",
    "DBitFlip",
    "ForcedYes",
    "FrequencyProtocol",
    "HadamardResponse",
    "HadamardSketch",
    "LocalProtocol",
    "LongitudinalKRR",
    "LongitudinalOUE",
    "MeanProtocol",
    "OneBitMean",
    "PiecewiseMean",
    "Rappor",
    "RapporClient",
    "Reports",
    "SubsetSelection",
    "Tally",
    "Warner",
    "choose",
    "choose_mean",
    "decode",
    "detection_limit",
    "protocol_from_json",
    "read_candidates",
    "read_protocol",
    "read_reports",
    "shuffled",
    "shuffled_delta",
    "tally_files",
    "tally_files_on_spark",
    "tally_from_json",
    "two_coins",
    "write_reports",
]
