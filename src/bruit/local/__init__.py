"""Local differential privacy: estimates with intervals from many noised answers (randomise → tally → estimate)."""

from bruit.local.choice import choose_mean, choose_protocol
from bruit.local.client import Client
from bruit.local.files import read_protocol, read_reports, tally_files, tally_files_on_spark, write_reports
from bruit.local.frequencies.dbitflip import DBitFlip
from bruit.local.frequencies.hadamard import HadamardResponse
from bruit.local.frequencies.hashing import BLH, OLH
from bruit.local.frequencies.krr import KRR
from bruit.local.frequencies.sketches import CountMeanSketch, HadamardSketch
from bruit.local.frequencies.subset import SubsetSelection
from bruit.local.frequencies.unary import OUE, SUE
from bruit.local.frequencies.warner import ForcedYes, Warner, two_coins
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.heavy_hitters import PrefixRounds, PrefixSearch, WordReports
from bruit.local.longitudinal.loloha import LOLOHA
from bruit.local.longitudinal.memoised import LongitudinalKRR, LongitudinalOUE
from bruit.local.means import MeanProtocol, OneBitMean, PiecewiseMean
from bruit.local.offering import Offer, ReportShape
from bruit.local.protocol import LocalProtocol, ReportsKind, TallyKind, offers, protocol_from_json, tally_from_json
from bruit.local.questionnaires.attributes import Attributes
from bruit.local.rappor import (
    BasicRappor,
    Rappor,
    RapporClient,
    decode,
    detection_limit,
    read_candidates,
)
from bruit.local.shuffling import shuffled, shuffled_delta
from bruit.local.tally import Reports, Tally

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
    "Offer",
    "OneBitMean",
    "PiecewiseMean",
    "PrefixRounds",
    "PrefixSearch",
    "Rappor",
    "RapporClient",
    "ReportShape",
    "Reports",
    "ReportsKind",
    "SubsetSelection",
    "Tally",
    "TallyKind",
    "Warner",
    "WordReports",
    "choose_mean",
    "choose_protocol",
    "decode",
    "detection_limit",
    "offers",
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
