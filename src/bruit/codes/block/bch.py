"""Binary BCH codes: cyclic codes of bits that correct several errors."""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.codes.block.binary_field import Field, field
from bruit.codes.reed_solomon import _long_kernels as kernels
from bruit.codes.reed_solomon.code import ReedSolomon
from bruit.codes.word import Decoded, HardBits, Received, as_symbols, read_only, settle
from bruit.errors import InvalidArgument


@dataclass(frozen=True)
class Bch(HardBits):
    """The narrow-sense binary BCH(n, k), systematic.             [Hocquenghem 1959; Bose & Ray-Chaudhuri 1960]

    Its generator is the product of the minimal polynomials of α, α³, … α^(2t−1), so that α … α^(2t) are roots: it is
    the part with symbols 0 and 1 of the Reed–Solomon code with 2t checks over the field of 2^bits elements, which
    decodes it. E errors and S erasures are corrected while 2E + S ≤ 2t. An n below 2^bits − 1 is the shortened code.
    """

    n: int
    k: int
    _: KW_ONLY
    bits: int | None = None
    polynomial: int | None = None

    def __post_init__(self) -> None:
        settle(self, n=(2, (1 << 16) - 1), k=(1, None), bits=(2, 16), polynomial=(1, None))
        if self.k >= self.n:
            raise InvalidArgument(f"BCH({self.n}, {self.k}): the message must be shorter than the word")
        if self.n > self.field.order:
            raise InvalidArgument(f"n={self.n} is more than the {self.field.order} bits that this field allows")
        if self.corrects == 0:
            raise InvalidArgument(
                f"BCH({self.n}, {self.k}): no generator has degree {self.n - self.k}; "
                f"k may be {', '.join(map(str, self._other_sizes()))}"
            )

    def __str__(self) -> str:
        return f"BCH({self.n}, {self.k})"

    @property
    def fills_erasures(self) -> bool:
        """True: `decode` takes the positions of erased bits, each of which counts as half an error."""
        return True

    @cached_property
    def field(self) -> Field:
        """The finite field that holds the code's roots."""
        return field(max(2, self.n.bit_length()) if self.bits is None else self.bits, self.polynomial)

    def _other_sizes(self) -> list[int]:
        sizes = {self.n - int(roots.sum()) for roots in self._root_sets()}
        return sorted(size for size in sizes if size > 0)

    def _root_sets(self) -> list[NDArray[np.bool_]]:
        """For t = 1, 2, … the powers of α that the generator has as roots: those below 2t and all their doubles."""
        roots = np.zeros(self.field.order, np.bool_)
        found = []
        for odd in range(1, self.field.order, 2):
            power = odd
            while not roots[power]:
                roots[power] = True
                power = 2 * power % self.field.order
            found.append(roots.copy())
            if roots.sum() >= self.n - 1 or roots.all():
                break
        return found

    @cached_property
    def _roots(self) -> NDArray[np.bool_]:
        """The powers of α that the generator of degree n − k has as roots; none where there is no such generator."""
        fitting = [roots for roots in self._root_sets() if int(roots.sum()) == self.n - self.k]
        return fitting[-1] if fitting else np.zeros(self.field.order, np.bool_)

    @cached_property
    def corrects(self) -> int:
        """The number t of bit errors the code corrects (α … α^(2t) are roots, the next power is not); 0 for no code."""
        missing = np.flatnonzero(~self._roots[1:])
        return int(missing[0] if missing.size else self._roots.size - 1) // 2

    @cached_property
    def generator(self) -> NDArray[np.uint8]:
        """The generator polynomial, highest degree first."""
        polynomial = np.ones(1, np.uint16)
        for power in np.flatnonzero(self._roots):
            polynomial = self.field.convolve(polynomial, [1, int(self.field.power(power))])
        return polynomial.astype(np.uint8)

    @cached_property
    def _over(self) -> ReedSolomon:
        """The Reed–Solomon code it is a part of."""
        terms = {"bits": self.field.bits, "polynomial": self.field.polynomial}
        return ReedSolomon(self.n, self.n - 2 * self.corrects, **terms)

    def encode(self, messages: Received) -> NDArray[np.uint8]:
        """Messages of k bits, followed by their n − k checks."""
        bits = as_symbols(messages, self.k, symbols=2, what="messages")
        rows = bits.reshape(-1, self.k).astype(np.uint16)
        words = np.empty((rows.shape[0], self.n), np.uint16)
        logs = self.field.log[self.generator[1:]]
        kernels.encode(read_only(rows), logs, self.field.exp, self.field.log, words)
        return words.astype(np.uint8).reshape(*bits.shape[:-1], self.n)

    def decode(
        self, received: Received, *, erasures: ArrayLike | None = None, raise_on_failure: bool = False
    ) -> Decoded:
        """The unique codeword with 2·errors + erasures ≤ 2t, or a marked failure that returns the word as received.

        `erasures` marks the bits known to be lost: flags of the shape of `received`, or for one word their places.
        """
        bits = as_symbols(received, self.n, symbols=2, what="received words")
        found = self._over.decode(bits, erasures=erasures)
        binary = found.word.max(axis=-1, keepdims=True) < 2  # a word of the larger code may hold other symbols
        good = np.asarray(found.decoded & binary[..., 0])
        word = np.where(good[..., None], found.word, bits).astype(np.uint8)
        corrected = np.where(good, found.corrected, 0)
        answer = Decoded(word[..., : self.k], word, bits, corrected, good, found.checks)
        return answer.raised(self) if raise_on_failure else answer
