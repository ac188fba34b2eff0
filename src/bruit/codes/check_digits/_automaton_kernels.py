"""Check digits by a finite automaton: each character changes the state, and a valid number ends in state 0.

`moves` is (period, states, characters): the character at step i moves state s to moves[i mod period, s, character].
Steps go from the left, or from the right where `backwards`. Characters are 0–9 and, where the table has an eleventh
column, X = 10, which only the last place may hold.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

RIGHT, WRONG, UNREADABLE = np.uint8(1), np.uint8(0), np.uint8(2)
UNREADABLE_KEY = -1

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]


@kernel
def _character(code: Any, last: Any, characters: Any) -> Any:
    """The value of a character, or 99 for one that cannot stand there."""
    if 48 <= code <= 57:
        return np.int64(code) - 48
    if code == 88 and last and characters == 11:
        return np.int64(10)
    return np.int64(99)


@kernel
def _last_state(text: Bytes, at: Any, size: Any, key: Any, moves: Bytes, backwards: Any) -> Any:
    """The state after the number, followed by `key` unless that is negative; −1 where a character cannot be read."""
    period, characters = moves.shape[0], moves.shape[2]
    length = size + (1 if key >= 0 else 0)
    state = np.int64(0)
    for i in range(length):
        j = length - 1 - i if backwards else i
        value = _character(text[at + j], j == length - 1, characters) if j < size else np.int64(key)
        if value == 99:
            return np.int64(-1)
        state = np.int64(moves[i % period, state, value])
    return state


@kernel
def judge(
    text: Bytes, starts: Places, stops: Places, width: int, moves: Bytes, backwards: int, digits: int, verdict: Bytes
) -> None:
    """Whether each value ends in state 0; `digits` is the required length, or 0 for any length of two or more."""
    for i in range(verdict.size):
        start = i * width if width else starts[i]
        size = width if width else stops[i] - start
        verdict[i] = UNREADABLE
        if size >= 2 and (digits == 0 or size == digits):
            state = _last_state(text, start, size, -1, moves, backwards)
            if state >= 0:
                verdict[i] = RIGHT if state == 0 else WRONG


@kernel
def find_key(
    text: Bytes, starts: Places, stops: Places, width: int, moves: Bytes, backwards: int, digits: int, keys: Places
) -> None:
    """The one character that brings each value to state 0."""
    for i in range(keys.size):
        start = i * width if width else starts[i]
        size = width if width else stops[i] - start
        keys[i] = UNREADABLE_KEY
        if size == digits - 1 or (digits == 0 and size >= 1):
            for key in range(moves.shape[2]):
                if _last_state(text, start, size, key, moves, backwards) == 0:
                    keys[i] = key
                    break
