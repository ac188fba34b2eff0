"""Walk 5: a word across the same kind of channel."""

import numpy as np

import bruit


def test_a_repeated_word_crosses_a_noisy_line() -> None:
    rng = np.random.default_rng(1)
    message = rng.integers(0, 2, (1000, 1))
    code = bruit.codes.Repetition(9)

    noisy = bruit.channels.binary(error=0.05).send(code.encode(message), rng=rng)
    decoded = code.decode(noisy)

    # Nine copies fail with probability 3.3e-5 a symbol: more than 6 of 1000 has a chance below 1e-9.
    assert int((decoded.message != message).sum()) <= 6
    assert int((noisy != code.encode(message)).sum()) > 0


def test_a_word_of_bytes_is_decoded_or_its_failure_is_stated() -> None:
    code = bruit.codes.ReedSolomon(255, 223)
    rng = np.random.default_rng(1)
    message = rng.integers(0, 256, 223)

    noisy = bruit.channels.symmetric(256, error=0.02).send(code.encode(message), rng=rng)
    decoded = code.decode(noisy)

    assert bool(decoded.decoded)
    np.testing.assert_array_equal(decoded.message, message)
    np.testing.assert_array_equal(decoded.positions, np.flatnonzero(noisy != code.encode(message)))
