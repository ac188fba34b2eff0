"""Check digits and error-correcting codes that run over any channel."""

from bruit.codes.bch import Bch
from bruit.codes.check_digits import Iban, Luhn, Nir, Siren, Siret
from bruit.codes.convolutional import Convolutional
from bruit.codes.hamming import Hamming
from bruit.codes.ldpc import Ldpc, ldpc
from bruit.codes.ldpc_standards import nr, wifi, wimax
from bruit.codes.limits import finite_length_limit, shannon_limit
from bruit.codes.parity import Parity
from bruit.codes.reed_solomon import ReedSolomon, ccsds, qr
from bruit.codes.repetition import Repetition
from bruit.codes.sealed import envelope, open_envelope
from bruit.codes.simulation import simulate
from bruit.codes.spelling import spell, unspell
from bruit.codes.turbo import LteTurbo
from bruit.codes.word import Code, Decoded

__all__ = [
    "Bch",
    "Code",
    "Convolutional",
    "Decoded",
    "Hamming",
    "Iban",
    "Ldpc",
    "LteTurbo",
    "Luhn",
    "Nir",
    "Parity",
    "ReedSolomon",
    "Repetition",
    "Siren",
    "Siret",
    "ccsds",
    "envelope",
    "finite_length_limit",
    "ldpc",
    "nr",
    "open_envelope",
    "qr",
    "shannon_limit",
    "simulate",
    "spell",
    "unspell",
    "wifi",
    "wimax",
]
