"""The numbers that shape a RaptorQ block: how many symbols of each kind there are, and the tables behind them."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from bruit.codes.low_density.standards import lines_of

# fmt: off
DEGREES = np.array([
    0, 5243, 529531, 704294, 791675, 844104, 879057, 904023, 922747, 937311, 948962, 958494, 966438, 973160, 978921,
    983914, 988283, 992138, 995565, 998631, 1001391, 1003887, 1006157, 1008229, 1010129, 1011876, 1013490, 1014983,
    1016370, 1017662, 1048576,
], np.int64)
# fmt: on
"""A symbol has degree d where its 20 random bits lie from entry d − 1 up to entry d.    [RFC 6330, Section 5.3.5.2]"""


@dataclass(frozen=True)
class Shape:
    """The sizes of one block.                                                  [RFC 6330, Section 5.3.3.3, Table 2]

    `source` symbols of the message (K', padded with zeros) become L intermediate ones: `lt` of them (W) are mixed by
    the LT code, the rest are permanently inactive. `sparse` (S) and `dense` (H) checks hold among them; `index` (J) is
    chosen so that the source symbols determine all.
    """

    source: int
    index: int
    sparse: int
    dense: int
    lt: int

    @property
    def intermediate(self) -> int:
        """The number of intermediate symbols, L = K' + S + H."""
        return self.source + self.sparse + self.dense

    @property
    def permanent(self) -> int:
        """The number P = L − W of symbols that are set aside from the start."""
        return self.intermediate - self.lt

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers J (`index`), W (`lt`), P (`permanent`) and the least prime >= P, as one array. [RFC 6330]"""
        prime = next(p for p in range(self.permanent, 2 * self.permanent) if all(p % d for d in range(2, p)))
        return np.array([self.index, self.lt, self.permanent, prime])


@cache
def shapes() -> tuple[Shape, ...]:
    """The 477 sizes that a block can have, the smallest first."""
    return tuple(Shape(*(int(field) for field in fields)) for fields in lines_of("raptorq_sizes.txt"))


@cache
def shape_for(symbols: int) -> Shape:
    """The smallest of RaptorQ's 477 block sizes that holds so many source symbols."""
    return next(shape for shape in shapes() if shape.source >= symbols)


@cache
def random_tables() -> NDArray[np.uint32]:
    """RFC 6330's random tables V0 to V3, one after the other.   [RFC 6330, Sections 5.5.1 to 5.5.4]"""
    return np.array([int(field) for fields in lines_of("raptorq_random.txt") for field in fields], np.uint32)
