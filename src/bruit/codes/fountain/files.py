"""Files in packets over a line that loses some: what the sender sends, and what any receiver of enough can rebuild."""

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bruit.codes.fountain.block import MOST_NUMBERS, MOST_SYMBOLS, Arrived, Symbols, decode_block, repair_symbols
from bruit.codes.fountain.parameters import shapes
from bruit.codes.word import settle
from bruit.core.arguments import octets, whole
from bruit.errors import BadFile, DecodingFailure, InvalidArgument

NUMBER = 4
"""Bytes before each symbol of a packet: the number of its block, and its own in three bytes."""

MOST_BYTES = 942_574_504_275
"""The longest file.                                                        [RFC 6330, Section 3.3.2, erratum 5548]"""

WORKING_MEMORY = 10 << 20
"""What a receiver needs for one sub-block, if nothing else is asked for."""


@dataclass(frozen=True)
class RaptorQFile:
    """How a file of `size` bytes is cut into packets of one symbol each; receivers need to know it.      [RFC 6330]

    The file is `blocks` blocks of nearly equal length, each a RaptorQ word of its own whose symbols have `symbol`
    bytes. `sub_blocks` and `alignment` say in which order the bytes of a block stand in its symbols. What is left out
    is derived as in Section 4.3 for receivers with 10 MiB of working memory.

    >>> file = RaptorQFile(5000, symbol=64)
    >>> packets = file.packets(bytes(range(250)) * 20, repair=8)
    >>> file.content(packets[8:]) == bytes(range(250)) * 20
    True
    """

    size: int
    _: KW_ONLY
    symbol: int = 1280
    blocks: int | None = None
    sub_blocks: int | None = None
    alignment: int | None = None

    def __post_init__(self) -> None:
        settle(self, size=(1, MOST_BYTES), symbol=(1, 65535), blocks=(1, 255), sub_blocks=(1, 65535))
        settle(self, alignment=(1, 255))
        if self.alignment is None:
            object.__setattr__(self, "alignment", 8 if self.symbol % 8 == 0 and self.symbol >= 64 else 1)
        if self.symbol % self._aligned:
            raise InvalidArgument(f"symbol={self.symbol} is no whole number of alignment={self.alignment} bytes")
        blocks, sub_blocks = self._derived()
        for name, value in (("blocks", blocks), ("sub_blocks", sub_blocks)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        self._check_cut()

    def _check_cut(self) -> None:
        blocks, sub_blocks = self._cut
        if blocks > min(255, self.symbols) or -(-self.symbols // blocks) > MOST_SYMBOLS:
            raise InvalidArgument(
                f"{self.size} bytes in {blocks} blocks of symbols of {self.symbol} bytes: there are from 1 to 255 "
                f"blocks of at most {MOST_SYMBOLS} symbols; take larger symbols, or more blocks"
            )
        if sub_blocks * self._aligned > self.symbol:
            raise InvalidArgument(f"sub_blocks={sub_blocks}: a symbol of {self.symbol} bytes is cut in fewer")

    @property
    def _aligned(self) -> int:
        return self.alignment or 1

    @property
    def _cut(self) -> tuple[int, int]:
        return self.blocks or 1, self.sub_blocks or 1

    @property
    def symbols(self) -> int:
        """Source symbols of all blocks together."""
        return -(-self.size // self.symbol)

    def _derived(self) -> tuple[int, int]:
        """The number of blocks and of sub-blocks.                                       [RFC 6330, Section 4.3]"""

        def longest(parts: int) -> int:
            room = WORKING_MEMORY // (self._aligned * -(-self.symbol // (self._aligned * parts)))
            return max((shape.source for shape in shapes() if shape.source <= room), default=1)

        least = 8 if self._aligned == 8 else 1  # a sub-symbol has at least so many aligned units
        most = max(1, self.symbol // (least * self._aligned))
        blocks = self.blocks or -(-self.symbols // longest(most))
        parts = next((n for n in range(1, most + 1) if -(-self.symbols // blocks) <= longest(n)), most)
        return blocks, parts

    @property
    def header(self) -> bytes:
        """The 12 bytes that tell a receiver these sizes.                        [RFC 6330, Sections 3.3.2 and 3.3.3]"""
        blocks, sub_blocks = self._cut
        lengths = ((self.size, 5), (0, 1), (self.symbol, 2), (blocks, 1), (sub_blocks, 2), (self._aligned, 1))
        return b"".join(value.to_bytes(width, "big") for value, width in lengths)

    @classmethod
    def from_header(cls, header: bytes) -> "RaptorQFile":
        """How a sent file was cut, read from the 12 bytes of its header."""
        header = octets(header, "header")
        if len(header) != 12:
            raise BadFile(f"a header of {len(header)} bytes: it has 12")
        fields = [int.from_bytes(header[low:high], "big") for low, high in ((0, 5), (6, 8), (8, 9), (9, 11), (11, 12))]
        try:
            size, symbol, blocks, sub_blocks, alignment = fields
            return cls(size, symbol=symbol, blocks=blocks, sub_blocks=sub_blocks, alignment=alignment)
        except InvalidArgument as error:
            raise BadFile(f"this is no header of a file in packets: {error}") from error

    def _lengths(self) -> Iterator[tuple[int, int]]:
        """The first source symbol of each block and how many it has, the longer blocks first."""
        blocks, _ = self._cut
        short, longer = divmod(self.symbols, blocks)
        first = 0
        for block in range(blocks):
            k = short + (block < longer)
            yield first, k
            first += k

    def _sub_symbols(self) -> list[int]:
        """Bytes of each symbol in each sub-block, the longer ones first."""
        _, parts = self._cut
        short, longer = divmod(self.symbol // self._aligned, parts)
        return [(short + (part < longer)) * self._aligned for part in range(parts)]

    def packets(self, content: bytes, *, repair: int) -> Symbols:
        """All source packets and `repair` more of each block, one a row: its number in four bytes, then its symbol."""
        content = octets(content, "content")
        if len(content) != self.size:
            raise InvalidArgument(f"content of {len(content)} bytes; this was made for {self.size}")
        whole(repair, "repair", least=0, most=MOST_NUMBERS - MOST_SYMBOLS)
        padded = np.zeros(self.symbols * self.symbol, np.uint8)
        padded[: self.size] = np.frombuffer(content, np.uint8)
        blocks, _ = self._cut
        made = np.empty((self.symbols + blocks * repair, NUMBER + self.symbol), np.uint8)
        for block, (first, k) in enumerate(self._lengths()):
            block_octets = padded[first * self.symbol : (first + k) * self.symbol]
            source, numbers = self._as_symbols(block_octets, k), np.arange(k + repair)
            packets = made[first + block * repair :][: k + repair]
            packets[:, :NUMBER] = (numbers + (block << 24)).astype(">u4").view(np.uint8).reshape(-1, NUMBER)
            packets[:k, NUMBER:] = source
            if repair:
                packets[k:, NUMBER:] = repair_symbols(source, numbers[k:])
        return made

    def _as_symbols(self, content: NDArray[np.uint8], k: int) -> Symbols:
        """The symbols of a block: one sub-symbol of each sub-block after the other."""
        if self._cut[1] == 1:
            return content.reshape(k, self.symbol)
        ends = np.cumsum([0, *self._sub_symbols()])
        parts = [content[k * low : k * high].reshape(k, -1) for low, high in pairwise(ends)]
        return np.concatenate(parts, axis=1)

    def _as_octets(self, symbols: Symbols) -> NDArray[np.uint8]:
        """The bytes of a block, from its source symbols."""
        parts = np.split(symbols, np.cumsum(self._sub_symbols())[:-1], axis=1)
        return np.concatenate([part.reshape(-1) for part in parts])

    def content(self, packets: Symbols | Iterable[bytes]) -> bytes:
        """The file from the packets that came, in any order; a `DecodingFailure` where they are too few.

        Packets must come as they were sent or not at all: those that contradict others are refused where there are
        more than needed, and taken for true where there are not.
        """
        block, came = self._read(packets)
        content = np.empty(self.symbols * self.symbol, np.uint8)
        for at, (first, k) in enumerate(self._lengths()):
            mine = block == at
            part = content[first * self.symbol : (first + k) * self.symbol]
            source = part.reshape(k, self.symbol)
            if not decode_block(source, came.part(mine)):
                raise DecodingFailure(
                    f"block {at} has {k} symbols and {np.count_nonzero(mine)} of its packets came, which do not "
                    "determine it; send more"
                )
            if self._cut[1] > 1:
                part[:] = self._as_octets(source)
        return content[: self.size].tobytes()

    def _read(self, packets: Symbols | Iterable[bytes]) -> tuple[NDArray[np.int64], Arrived]:
        """The block of each different packet, and its symbol."""
        width = NUMBER + self.symbol
        if not isinstance(packets, np.ndarray):
            if not isinstance(packets, Iterable):
                raise InvalidArgument(f"packets of type {type(packets).__name__}: give the bytes of each in a list")
            received = [octets(packet, "a packet") for packet in packets]
            wrong = next((len(packet) for packet in received if len(packet) != width), None)
            if wrong is not None:
                raise InvalidArgument(f"a packet of {wrong} bytes; those of this file have {width}")
            packets = np.frombuffer(b"".join(received), np.uint8).reshape(-1, width)
        if packets.ndim != 2 or packets.shape[1] != width or packets.dtype != np.uint8:
            raise InvalidArgument(f"packets of shape {packets.shape}: give bytes in rows of {width}, one packet each")
        names = np.ascontiguousarray(packets[:, :NUMBER]).view(">u4").reshape(-1).astype(np.int64)
        different, first = np.unique(names, return_index=True)
        numbers = different & (MOST_NUMBERS - 1)
        return different >> 24, Arrived(numbers, first, np.ascontiguousarray(packets), NUMBER)
