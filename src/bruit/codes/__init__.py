"""Check digits and error-correcting codes, with simulation over any channel."""

from bruit.codes.block.bch import Bch
from bruit.codes.block.hamming import Hamming
from bruit.codes.block.linear_code import Linear, golay, linear, quadratic_residue, reed_muller
from bruit.codes.block.parity import Parity
from bruit.codes.block.repetition import Repetition
from bruit.codes.check_digits.algorithms import Iban, Luhn, Nir, Siren, Siret
from bruit.codes.check_digits.automata import Damm, Ean, Isbn, Verhoeff
from bruit.codes.checksums.cyclic import Crc, checksum
from bruit.codes.envelopes import envelope, open_envelope
from bruit.codes.fountain.code import RaptorQ
from bruit.codes.fountain.files import RaptorQFile
from bruit.codes.limits import finite_length_limit, shannon_limit
from bruit.codes.low_density.code import Ldpc, ldpc
from bruit.codes.low_density.standards import dvb_s2, nr, wifi, wimax
from bruit.codes.polar_codes.code import Polar, polar
from bruit.codes.polar_codes.construction import polarise
from bruit.codes.polar_codes.new_radio import nr_polar
from bruit.codes.qr_symbols import qr_symbol, read_qr_symbol
from bruit.codes.reed_solomon.code import ReedSolomon, ccsds, qr
from bruit.codes.simulation import simulate
from bruit.codes.spelling import spell, unspell
from bruit.codes.trellis.ccsds_turbo import CcsdsTurbo
from bruit.codes.trellis.convolutional import Convolutional
from bruit.codes.trellis.lte_turbo import LteTurbo
from bruit.codes.word import Code, Decoded

__all__ = [
    "Bch",
    "CcsdsTurbo",
    "Code",
    "Convolutional",
    "Crc",
    "Damm",
    "Decoded",
    "Ean",
    "Hamming",
    "Iban",
    "Isbn",
    "Ldpc",
    "Linear",
    "LteTurbo",
    "Luhn",
    "Nir",
    "Parity",
    "Polar",
    "RaptorQ",
    "RaptorQFile",
    "ReedSolomon",
    "Repetition",
    "Siren",
    "Siret",
    "Verhoeff",
    "ccsds",
    "checksum",
    "dvb_s2",
    "envelope",
    "finite_length_limit",
    "golay",
    "ldpc",
    "linear",
    "nr",
    "nr_polar",
    "open_envelope",
    "polar",
    "polarise",
    "qr",
    "qr_symbol",
    "quadratic_residue",
    "read_qr_symbol",
    "reed_muller",
    "shannon_limit",
    "simulate",
    "spell",
    "unspell",
    "wifi",
    "wimax",
]
