"""Kernels that keep the well-formed rows of a CSV file and drop every other line."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

END = ord("\n")

STATES = 6
BEGINS, PLAIN, QUOTED, CLOSED, ENDS, WRONG = range(STATES)
"""Where a line stands: a field begins, in one without quotes, in one with, after its last quote, before the end."""

OTHER, SEPARATOR, QUOTE, RETURN = range(4)


def next_states() -> NDArray[np.uint8]:
    """The table of a CSV parser's next state, by kind of byte and present state."""
    states = np.full((4, STATES), WRONG, np.uint8)
    states[:, QUOTED] = QUOTED
    states[OTHER, [BEGINS, PLAIN]] = states[RETURN, [BEGINS, PLAIN]] = PLAIN
    states[SEPARATOR, [BEGINS, PLAIN, CLOSED]] = BEGINS
    states[QUOTE, [BEGINS, CLOSED]] = QUOTED  # after a closing quote it is one of two that stand for one
    states[QUOTE, QUOTED] = CLOSED
    states[RETURN, CLOSED] = ENDS
    return states


@kernel
def all_have(data: NDArray[np.uint8], separator: int, fields: int) -> bool:
    """Whether every line of a text without quotes has so many fields; every line must end."""
    found = 1
    for byte in data:
        if byte == separator:
            found += 1
        elif byte == END:
            if found != fields:
                return False
            found = 1
    return True


@kernel
def keep_rows(
    data: NDArray[np.uint8],
    kept: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    states: NDArray[np.uint8],
    fields: int,
) -> int:
    """Copies the lines that are rows of `fields` fields to `kept` and returns their size; every line must end.

    `kinds` says of each byte what it is, `states` of each kind and state which state follows.
    """
    state, found, start, length = BEGINS, 1, 0, 0
    for i in range(len(data)):
        byte = data[i]
        kept[length] = byte
        length += 1
        if byte == END:
            if state in (QUOTED, WRONG) or found != fields:
                length = start
            state, found, start = BEGINS, 1, length
        else:
            kind = kinds[byte]
            state = int(states[kind, state])
            found += kind == SEPARATOR and state == BEGINS
    return length
