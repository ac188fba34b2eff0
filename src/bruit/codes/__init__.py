"""Check digits and error-correcting codes that run over any channel."""

from bruit.codes.check_digits import Iban, Luhn, Nir, Siren, Siret
from bruit.codes.convolutional import Convolutional
from bruit.codes.hamming import Hamming
from bruit.codes.ldpc import Ldpc, ldpc
from bruit.codes.ldpc_standards import nr, wifi
from bruit.codes.parity import Parity
from bruit.codes.reed_solomon import ReedSolomon, ccsds, qr
from bruit.codes.repetition import Repetition
from bruit.codes.spelling import spell, unspell
from bruit.codes.word import Code, Decoded

__all__ = [
    "Code",
    "Convolutional",
    "Decoded",
    "Hamming",
    "Iban",
    "Ldpc",
    "Luhn",
    "Nir",
    "Parity",
    "ReedSolomon",
    "Repetition",
    "Siren",
    "Siret",
    "ccsds",
    "qr",
    "ldpc",
    "nr",
    "spell",
    "unspell",
    "wifi",
]
