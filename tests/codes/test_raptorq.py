"""RaptorQ: the packets of another implementation, byte by byte; any sufficient number of them gives the file back."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laws import ALARM, binomial_window
from numpy.typing import NDArray

from bruit.codes import RaptorQ, RaptorQFile
from bruit.codes.block.binary_field import field
from bruit.codes.fountain.block import Arrived, decode_block, repair_symbols
from bruit.codes.fountain.parameters import Shape, random_tables, shapes
from bruit.codes.fountain.solver import encoding_symbols, find_intermediate, plan
from bruit.errors import BadFile, DecodingFailure, InvalidArgument

VECTORS = json.loads((Path(__file__).parent / "vectors" / "raptorq.json").read_text())


def content(size: int) -> bytes:
    parts = (hashlib.sha256(at.to_bytes(4, "big")).digest() for at in range(size // 32 + 1))
    return b"".join(parts)[:size]


@pytest.mark.parametrize("vector", VECTORS[:-1], ids=lambda vector: str(vector["size"]))
def test_packets_are_those_of_another_implementation(vector: dict[str, Any]) -> None:
    assert_packets(vector)


@pytest.mark.stress
def test_packets_of_sub_blocks_are_those_of_another_implementation() -> None:
    assert_packets(VECTORS[-1])


def assert_packets(vector: dict[str, Any]) -> None:
    file = RaptorQFile(vector["size"], symbol=vector["symbol"])
    packets = file.packets(content(vector["size"]), repair=vector["repair"])
    assert hashlib.sha256(packets.tobytes()).hexdigest() == vector["digest"]
    kept = np.random.default_rng(1).permutation(packets)[: file.symbols + 3]
    assert file.content(kept) == content(vector["size"])


def assert_determined(shape: Shape) -> None:
    """The systematic index is chosen so that the source symbols determine the intermediate ones."""
    ids = np.arange(shape.source)
    steps = plan(shape, ids)
    values = np.zeros((shape.intermediate + ids.size, 1), np.uint64)
    source = np.random.default_rng(1).integers(0, 1 << 63, (shape.source, 1)).astype(np.uint64)
    values[shape.intermediate :] = source
    assert find_intermediate(steps, values)
    np.testing.assert_array_equal(encoding_symbols(shape, values, ids), source)


@pytest.mark.parametrize("shape", shapes()[:240:12], ids=lambda shape: str(shape.source))
def test_source_symbols_determine_their_block(shape: Shape) -> None:
    assert_determined(shape)


@pytest.mark.stress
@pytest.mark.parametrize("shape", shapes(), ids=lambda shape: str(shape.source))
def test_source_symbols_determine_every_block(shape: Shape) -> None:
    assert_determined(shape)


def dense_system(shape: Shape) -> NDArray[np.uint8]:
    """The S + H checks as the standard writes them: matrices over 256 elements, multiplied out element by element."""
    power = [1]
    for _ in range(254):
        power.append(power[-1] << 1 ^ (0x11D if power[-1] & 128 else 0))
    log = {value: at for at, value in enumerate(power)}

    def times(a: int, b: int) -> int:
        return power[(log[a] + log[b]) % 255] if a and b else 0

    def random(y: int, i: int, most: int) -> int:
        tables = random_tables().reshape(4, 256)
        return int(np.bitwise_xor.reduce([tables[t][(y // 256**t + i) % 256] for t in range(4)])) % most

    s, h, width = shape.sparse, shape.dense, shape.source + shape.sparse
    checks = np.zeros((s + h, shape.intermediate), np.uint8)
    for i in range(shape.lt - s):
        for part in range(3):
            checks[(i % s + part * (1 + i // s)) % s, i] ^= 1
    for i in range(s):
        for column in (shape.lt - s + i, shape.lt + i % shape.permanent, shape.lt + (i + 1) % shape.permanent):
            checks[i, column] ^= 1
    for i in range(h):
        for j in range(width - 1):
            first = random(j + 1, 6, h)
            if i in (first, (first + random(j + 1, 7, h - 1) + 1) % h):
                for column in range(j + 1):
                    checks[s + i, column] ^= power[(j - column) % 255]
        for column in range(width):
            checks[s + i, column] ^= times(power[i], power[(width - 1 - column) % 255])
        checks[s + i, width + i] = 1
    return checks


def test_intermediate_symbols_satisfy_the_checks_of_the_standard() -> None:
    shape = shapes()[3]
    values = np.zeros((shape.intermediate + shape.source, 1), np.uint64)
    values[shape.intermediate :] = np.random.default_rng(2).integers(0, 1 << 63, (shape.source, 1)).astype(np.uint64)
    assert find_intermediate(plan(shape, np.arange(shape.source)), values)
    symbols = values[: shape.intermediate].view(np.uint8)
    products = field(8).multiply(dense_system(shape)[:, :, None], symbols[None])
    assert not np.bitwise_xor.reduce(products, axis=1).any()


def failures(k: int, extra: int, trials: int) -> int:
    """How often k + extra random repair symbols do not determine a block."""
    rng = np.random.default_rng(3)
    source = rng.integers(0, 256, (k, 1), np.uint8)
    numbers = np.arange(k, 4000)
    repair = repair_symbols(source, numbers)
    failed = 0
    for _ in range(trials):
        rows = rng.choice(numbers.size, k + extra, replace=False)
        found = np.empty_like(source)
        if decode_block(found, Arrived(numbers[rows], rows, np.ascontiguousarray(repair))):
            assert (found == source).all()
        else:
            failed += 1
    return failed


def test_one_block_in_a_hundred_needs_one_symbol_more() -> None:
    """At most 1e-2 of the blocks fail from k symbols and 1e-4 from one more, as its authors promise."""
    assert failures(26, 0, 1500) <= binomial_window(1500, 1e-2, ALARM)[1]
    assert failures(26, 1, 1500) <= binomial_window(1500, 1e-4, ALARM)[1]


def test_a_file_survives_loss_disorder_and_repetition() -> None:
    file = RaptorQFile(20_001, symbol=24, blocks=3, sub_blocks=2, alignment=4)
    packets = file.packets(content(20_001), repair=40)
    rng = np.random.default_rng(4)
    kept = packets[rng.random(len(packets)) > 0.08]
    again = rng.permutation(np.concatenate([kept, kept[:50]]))
    assert RaptorQFile.from_header(file.header) == file
    assert file.content(bytes(packet) for packet in again) == content(20_001)
    with pytest.raises(DecodingFailure, match="block 1 has 278 symbols and 0 of its packets"):
        file.content(kept[kept[:, 0] != 1])


def test_contradictions_are_noticed_where_there_is_more_than_needed() -> None:
    code = RaptorQ(12, 20)
    words = code.encode(np.arange(48).reshape(4, 12))
    words[1, 3] ^= 1
    found = code.decode(words, erasures=np.tile(np.arange(20) >= 14, (4, 1)))
    assert found.decoded.tolist() == [True, False, True, True]
    assert found.message[[0, 2, 3]].tolist() == np.arange(48).reshape(4, 12)[[0, 2, 3]].tolist()
    assert found.checks is not None
    assert found.checks.tolist() == [2] * 4
    assert not code.decode(words[0], erasures=np.arange(9)).decoded


def test_what_cannot_be_cut_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="alignment"):
        RaptorQFile(100, symbol=12, alignment=8)
    with pytest.raises(InvalidArgument, match="take larger symbols"):
        RaptorQFile(10**9, symbol=8)
    with pytest.raises(InvalidArgument, match="is cut in fewer"):
        RaptorQFile(100, symbol=8, sub_blocks=9)
    with pytest.raises(InvalidArgument, match="made for 100"):
        RaptorQFile(100).packets(b"short", repair=1)
    with pytest.raises(InvalidArgument, match="a packet of 3 bytes"):
        RaptorQFile(100, symbol=64).content([b"abc"])
    with pytest.raises(InvalidArgument, match="in rows of 68"):
        RaptorQFile(100, symbol=64).content(np.zeros((2, 5), np.uint8))
    with pytest.raises(BadFile, match="it has 12"):
        RaptorQFile.from_header(b"abc")
    with pytest.raises(BadFile, match="no header"):
        RaptorQFile.from_header(bytes(12))
    with pytest.raises(InvalidArgument, match="shorter than the word"):
        RaptorQ(10, 10)


@pytest.mark.parametrize("k", [1, 10, 60])
def test_a_word_that_contradicts_itself_spoils_no_other_of_its_batch(k: int) -> None:
    """Words that lost the same symbols are solved together: each comes out as it would alone."""
    code, rng = RaptorQ(k, k + 6), np.random.default_rng(k)
    words = code.encode(code.random_messages(7, rng))
    received, lost = words.copy(), np.zeros(words.shape, bool)
    received[[1, 4], rng.integers(1, code.n, 2)] ^= 5
    lost[:, 0], lost[5:, -1] = True, True
    found = code.decode(received, erasures=lost)
    alone = [code.decode(row, erasures=flags) for row, flags in zip(received, lost, strict=True)]
    np.testing.assert_array_equal(found.decoded, np.isin(np.arange(7), (1, 4), invert=True))
    np.testing.assert_array_equal(found.decoded, [each.decoded for each in alone])
    np.testing.assert_array_equal(found.word, [each.word for each in alone])
