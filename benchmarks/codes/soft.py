"""Soft decoders beside VOLK, komm, ldpc and scikit-commpy: Viterbi, layered LDPC, turbo. Part of the area `codes`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

from benchmarks.case import Case, Peer, Work
from benchmarks.codes.timing import rate

MEGA = 1e6
STEPS = 2048  # of the trellis: 2042 message bits and six that flush


def heard(words: Any, share: float, level: float) -> Any:
    """Log-likelihoods of words of a code of this rate after Gaussian noise at this Eb/N0 (dB)."""
    import numpy as np

    deviation = (2 * share * 10 ** (level / 10)) ** -0.5
    noise = np.random.default_rng(2).normal(0, deviation, words.shape)
    return (2 / deviation**2 * (1 - 2.0 * words + noise)).astype(np.float32)


def messages(words: int, k: int) -> Any:
    import numpy as np

    return np.random.default_rng(1).integers(0, 2, (words, k), dtype=np.uint8)


def viterbi() -> Work:
    from bruit.codes import Convolutional

    code = Convolutional((0o171, 0o133), STEPS - 6)
    sent = messages(640, code.k)
    received = heard(code.encode(sent), 1 / 2, 4.0)
    return rate(lambda: code.messages(received), sent.size / MEGA)


def viterbi_two_threads() -> Work:
    """How many times as fast two threads are: a ratio, near two where two cores are free."""
    from bruit.codes import Convolutional

    code = Convolutional((0o171, 0o133), STEPS - 6)
    received = heard(code.encode(messages(640, code.k)), 1 / 2, 4.0)
    halves = [received[:320], received[320:]]
    code.messages(received)

    def gain() -> float:
        began = perf_counter()
        for half in halves:
            code.messages(half)
        alone = perf_counter() - began
        with ThreadPoolExecutor(2) as pool:
            began = perf_counter()
            list(pool.map(code.messages, halves))
            return alone / (perf_counter() - began)

    return gain


def viterbi_komm() -> Work:
    import komm

    code = komm.TerminatedConvolutionalCode(komm.ConvolutionalCode([[0o117, 0o155]]), 200)
    decoder = komm.ViterbiDecoder(code, input_type="soft")
    import numpy as np

    words = np.array([code.encode(message) for message in messages(2, 200)])
    received = heard(words, 1 / 2, 4.0).astype(float)
    return rate(lambda: [decoder.decode(word) for word in received], received.shape[0] * 200 / MEGA)


def viterbi_volk() -> Work:
    """In C with vectors, from bytes, a word a call."""
    import numpy as np

    from benchmarks.codes import native

    sent = messages(64, STEPS - 6)
    received = heard(native.flushed_words(sent), 1 / 2, 4.0)  # positive is 0: 255 shall be 1
    values = np.clip(np.round(127.5 - 8 * received), 0, 255).astype(np.uint8)
    return rate(native.volk_viterbi(sent, values), sent.size / MEGA)


def viterbi_commpy() -> Work:
    import numpy as np
    from commpy.channelcoding import Trellis, conv_encode, viterbi_decode

    trellis = Trellis(np.array([6]), np.array([[0o171, 0o133]]))
    words = np.array([conv_encode(message, trellis) for message in messages(1, 200)])
    received = -heard(words, 1 / 2, 4.0).astype(float)
    return rate(lambda: [viterbi_decode(w, trellis, decoding_type="unquantized") for w in received], 200 / MEGA)


def new_radio() -> Work:
    from bruit.codes import nr

    code = nr(972, 1944)
    sent = messages(640, code.k)
    received = heard(code.encode(sent), 1 / 2, 2.0)
    return rate(lambda: code.decode(received), sent.size / MEGA)


def new_radio_encode() -> Work:
    from bruit.codes import nr

    code = nr(972, 1944)
    sent = messages(640, code.k)
    return rate(lambda: code.encode(sent), sent.size / MEGA)


def new_radio_matrix() -> Any:
    """The checks of NR (1944, 972) from our table: base graph 2 lifted by 104, the first 12 rows."""
    from pathlib import Path

    import numpy as np
    from scipy.sparse import csr_matrix

    table = np.loadtxt(Path(__file__).parents[2] / "src/bruit/codes/standards/nr_2.txt", int)
    row, column, shift = table[table[:, 0] < 12][:, [0, 1, 2 + 6]].T  # 104 = 13 · 8: the seventh set
    place = np.arange(104)
    checks = (row[:, None] * 104 + place).reshape(-1)
    bits = (column[:, None] * 104 + (place + shift[:, None]) % 104).reshape(-1)
    return csr_matrix((np.ones(checks.size, np.uint8), (checks, bits)), shape=(12 * 104, 22 * 104))


def ldpc_peer() -> Work:
    """Serial min-sum in C++ on the same matrix, all-zero words; unsent and absent bits as in the standard."""
    import numpy as np
    from ldpc import BpDecoder

    matrix = new_radio_matrix()
    decoder = BpDecoder(
        matrix,
        error_rate=0.1,
        max_iter=20,
        bp_method="minimum_sum",
        ms_scaling_factor=0.75,
        schedule="serial",
        input_vector_type="received_vector",
    )
    likelihoods = np.zeros((10, matrix.shape[1]))
    sent = np.r_[208:972, 1040 : 1040 + 1944 - 764]
    likelihoods[:, sent] = heard(np.zeros((10, 1944)), 1 / 2, 2.0)
    likelihoods[:, 972:1040] = 40.0
    chances = 1 / (1 + np.exp(np.abs(likelihoods)))
    hard = (likelihoods < 0).astype(np.uint8)

    def decode() -> None:
        for word, chance in zip(hard, chances, strict=True):
            decoder.update_channel_probs(chance)
            decoder.decode(word)

    return rate(decode, 10 * 972 / MEGA)


def satellite() -> Work:
    from bruit.codes import dvb_s2

    code = dvb_s2(16200, "3/4", decoder="min-sum", iterations=20)
    sent = messages(64, code.k)
    received = heard(code.encode(sent), code.k / code.n, 2.8)
    return rate(lambda: code.decode(received), sent.size / MEGA)


def turbo() -> Work:
    from bruit.codes import LteTurbo

    code = LteTurbo(1024)
    sent = messages(320, code.k)
    received = heard(code.encode(sent), 1 / 3, 1.0)
    return rate(lambda: code.messages(received), sent.size / MEGA)


def ccsds_turbo() -> Work:
    from bruit.codes import CcsdsTurbo

    code = CcsdsTurbo(1784, "1/3")
    sent = messages(64, code.k)
    received = heard(code.encode(sent), 1 / 3, 0.6)
    return rate(lambda: code.decode(received), sent.size / MEGA)


def turbo_commpy() -> Work:
    """Six turns of log-MAP on the same two eight-state codes."""
    import numpy as np
    from commpy.channelcoding import Trellis, turbo_decode, turbo_encode
    from commpy.channelcoding.interleavers import RandInterlv

    trellis = Trellis(np.array([3]), np.array([[1, 0o15]]), feedback=0o13, code_type="rsc")
    interleaver = RandInterlv(256, 1)
    streams = turbo_encode(messages(1, 256)[0], trellis, trellis, interleaver)
    deviation = (2 / 3 * 10**0.1) ** -0.5
    rng = np.random.default_rng(2)
    received = [2.0 * s[:256] - 1 + rng.normal(0, deviation, 256) for s in streams]
    return rate(lambda: turbo_decode(*received, trellis, deviation**2, 6, interleaver), 256 / MEGA)


def polar_list() -> Work:
    """Eight paths and a checksum of 11 bits, as uplink control has it."""
    from bruit.codes import polar

    code = polar(512, 1024, polynomial="NR 11")
    sent = messages(64, code.k)
    received = heard(code.encode(sent), 1 / 2, 2.0)
    return rate(lambda: code.decode(received), sent.size / MEGA)


CASES = [
    Case(
        "Viterbi K=7 rate 1/2 soft",
        "Mbit/s",
        "higher",
        viterbi,
        (
            Peer("VOLK (GNU Radio)", viterbi_volk),
            Peer("komm", viterbi_komm, times=100),
            Peer("scikit-commpy", viterbi_commpy, times=100),
        ),
        goal=250,
        returned=True,
    ),
    Case("Viterbi two threads", "times", "higher", viterbi_two_threads, goal=1.8, returned=True, threads=None),
    Case(
        "LDPC NR (1944, 972) layered min-sum, 2 dB",
        "Mbit/s",
        "higher",
        new_radio,
        (Peer("ldpc", ldpc_peer, times=10),),
        goal=80,
        returned=True,
    ),
    Case("Polar (1024, 512) SCL-8, 2 dB", "Mbit/s", "higher", polar_list, goal=5, returned=True),
    Case("LDPC NR (1944, 972) encode", "Mbit/s", "higher", new_radio_encode, returned=True),
    Case(
        "LTE turbo K=1024, 6 iterations",
        "Mbit/s",
        "higher",
        turbo,
        (Peer("scikit-commpy K=256", turbo_commpy, times=100),),
        goal=12,
        returned=True,
    ),
    Case("CCSDS turbo (1784, 1/3), up to 10 iterations, 0.6 dB", "Mbit/s", "higher", ccsds_turbo, returned=True),
    Case("LDPC DVB-S2 (16200, 11880) layered min-sum, 2.8 dB", "Mbit/s", "higher", satellite, returned=True),
]
