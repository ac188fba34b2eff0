"""Check digits and error-correcting codes that run over any channel."""

from bruit.codes.check_digits import Iban, Luhn, Nir, Siren, Siret
from bruit.codes.convolutional import Convolutional
from bruit.codes.hamming import Hamming
from bruit.codes.parity import Parity
from bruit.codes.repetition import Repetition
from bruit.codes.spelling import spell, unspell
from bruit.codes.word import Code, Decoded

__all__ = [
    "Code",
    "Convolutional",
    "Decoded",
    "Hamming",
    "Iban",
    "Luhn",
    "Nir",
    "Parity",
    "Repetition",
    "Siren",
    "Siret",
    "spell",
    "unspell",
]
