"""Where random words come from: AES-128 in counter mode, keyed by the operating system, behind numpy's Generator.

Many words at once are expanded by ChaCha20 from a key that the source gives for this one call and that is kept nowhere.
"""

from __future__ import annotations

import os
import weakref
from typing import Any, NoReturn

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray
from randomgen import AESCounter

from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.randomness._cipher import WORDS_A_BATCH, fill_keystream

LARGEST_WORD = 2**64 - 1
MANY_WORDS = 4 * WORDS_A_BATCH
"""From here on the vectorised cipher is quicker than asking the source word by word."""

KEY_AND_NONCE = 10


class OperatingSystem(ISeedSequence):
    """A seed sequence that has no seed: every key is read from the operating system."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """`n_words` fresh unsigned integers."""
        kind = np.dtype(dtype)
        return np.frombuffer(os.urandom(n_words * kind.itemsize), kind)


class StrongSource(AESCounter):  # type: ignore[misc]
    """A cryptographically strong bit generator whose stream can never be reproduced.

    Word i is half of the AES-128 encryption of the block i // 2 under a key that only this object knows. A copy, an
    unpickled one, a spawned one and the one that a forked child holds each have a key of their own.
    """

    _sealed = False

    def __init__(self) -> None:
        super().__init__(_OPERATING_SYSTEM)
        self._sealed = True
        _alive.add(self)

    def rekey(self) -> None:
        """Forgets the key and the buffered words, and starts again with a fresh key."""
        self._sealed = False
        self.seed(_OPERATING_SYSTEM)
        self._sealed = True

    def seed(self, seed: object = None, counter: object = None, key: object = None) -> None:
        """Refuses to be seeded; only the constructor may call it, to set a key from the operating system."""
        if self._sealed:
            self._refuse()
        super().seed(seed, counter, key)

    def spawn(self, n_children: int) -> list[StrongSource]:
        """Independent sources, each with a key of its own."""
        return [StrongSource() for _ in range(n_children)]

    def __copy__(self) -> StrongSource:
        return StrongSource()

    def __deepcopy__(self, memo: dict[int, Any]) -> StrongSource:
        return StrongSource()

    def __reduce__(self) -> tuple[type[StrongSource], tuple[()]]:
        return StrongSource, ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise InvalidArgument(
            "a strong source has no seed and shows no state, because noise must never be drawn twice; "
            "for a stream that can be repeated bring rng=np.random.default_rng(seed)"
        )

    jump = jumped = advance = _refuse
    state = property(_refuse, _refuse)


_OPERATING_SYSTEM = OperatingSystem()
_alive: weakref.WeakSet[StrongSource] = weakref.WeakSet()


def _rekey_all() -> None:
    """Gives the sources that a forked child inherited keys of their own."""
    for source in list(_alive):
        source.rekey()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_rekey_all)


def generator(rng: np.random.Generator | None = None) -> np.random.Generator:
    """Returns the caller's generator, or for None a fresh one over the cryptographic source."""
    if rng is None:
        return np.random.Generator(StrongSource())
    if not isinstance(rng, np.random.Generator):
        raise InvalidArgument(
            f"rng is of type {type(rng).__name__}; give None for the strong source, or a numpy Generator such as "
            "np.random.default_rng(seed) where repeatable noise is meant (its releases are marked 'seeded')"
        )
    return rng


def is_strong(rng: np.random.Generator | None) -> bool:
    """Whether the noise drawn from `rng` cannot be predicted; None stands for the cryptographic source."""
    return rng is None or isinstance(generator(rng).bit_generator, StrongSource)


def words(rng: np.random.Generator | None, count: int) -> NDArray[np.uint64]:
    """`count` uniform words of 64 bits; from a strong source many come as the keystream of one fresh ChaCha20 key."""
    rng, count = generator(rng), whole(count, "count", least=0)
    if count < MANY_WORDS or not is_strong(rng):
        return rng.integers(LARGEST_WORD, size=count, dtype=np.uint64, endpoint=True)
    out = np.empty(-(-count // WORDS_A_BATCH) * WORDS_A_BATCH, np.uint64)
    fill_keystream(rng.integers(2**32, size=KEY_AND_NONCE, dtype=np.uint32), out)
    return out[:count]
