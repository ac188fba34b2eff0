"""The steps of check digits and small codes as sentences, to be followed by hand."""

from collections.abc import Callable

import numpy as np

from bruit.codes.block.hamming import Hamming
from bruit.codes.block.repetition import Repetition
from bruit.codes.check_digits.algorithms import SEPARATORS
from bruit.codes.check_digits.automata import AutomatonDigits
from bruit.codes.word import Received, as_symbols
from bruit.errors import InvalidArgument

MODULUS = 97
"""NIR and IBAN keys are remainders modulo this prime."""


def compact(text: str) -> str:
    """A number as it is checked: without separators, in capitals."""
    return text.translate(SEPARATORS).upper()


def _digits(text: str) -> list[int]:
    number = compact(text)
    if not number.isascii() or not number.isdigit():
        raise InvalidArgument(f"{text!r} holds other characters than digits and separators")
    return [int(digit) for digit in number]


def luhn_steps(text: str) -> list[str]:
    """The steps of Luhn's check: doubled digits, their sum, and whether it ends in 0."""
    digits = _digits(text)
    doubled = [len(digits) - place & 1 == 0 for place in range(len(digits))]
    terms = [(2 * digit - 9 * (digit > 4)) if double else digit for digit, double in zip(digits, doubled, strict=True)]
    return [
        f"digits     {' '.join(map(str, digits))}",
        f"doubled    {' '.join('×' if double else '·' for double in doubled)}",
        f"counted    {' '.join(map(str, terms))}",
        f"sum        {sum(terms)}, which {'ends' if sum(terms) % 10 == 0 else 'does not end'} in 0",
    ]


def nir_steps(text: str) -> list[str]:
    """The steps of the NIR check: the number with 2A as 19 and 2B as 18, its remainder modulo 97, and the key."""
    number = compact(text)
    read = number[:5] + {"2A": "19", "2B": "18"}.get(number[5:7], number[5:7]) + number[7:]
    if len(read) != 15 or not read.isascii() or not read.isdigit():
        raise InvalidArgument(f"{text!r} is not thirteen digits (2A and 2B allowed) and a key of two")
    value, key = int(read[:13]), int(read[13:])
    return [
        f"number     {value}" + (f"  ({number[5:7]} read as {read[5:7]})" if read != number else ""),
        f"remainder  {value} mod {MODULUS} = {value % MODULUS}",
        f"key        {MODULUS} − {value % MODULUS} = {MODULUS - value % MODULUS:02d}",
        f"received   {key:02d}, which is {'right' if key == MODULUS - value % MODULUS else 'wrong'}",
    ]


def iban_steps(text: str) -> list[str]:
    """The steps of the IBAN check: first four characters moved to the end, letters as 10…35, remainder modulo 97."""
    number = compact(text)
    if len(number) < 5 or not number.isascii() or not number.isalnum():
        raise InvalidArgument(f"{text!r} is no country, two check digits and account")
    moved = number[4:] + number[:4]
    value = int("".join(str(int(character, 36)) for character in moved))
    return [
        f"moved      {moved}",
        f"as number  {value}",
        f"remainder  {value} mod {MODULUS} = {value % MODULUS}, which should be 1",
    ]


def automaton_steps(scheme: AutomatonDigits) -> Callable[[str], list[str]]:
    """A function that lists the automaton's states for a number, which should end in 0."""

    def steps(text: str) -> list[str]:
        number = compact(text)
        values = [*_digits(number[:-1]), 10 if number[-1] == "X" else _digits(number[-1])[0]]
        order = values[::-1] if scheme.backwards else values
        states = [0]
        for i, value in enumerate(order):
            states.append(int(scheme.moves[i % scheme.moves.shape[0], states[-1], value]))
        return [
            f"read       {' '.join(map(str, order))}  (from the {'right' if scheme.backwards else 'left'})",
            f"states     {' '.join(map(str, states[1:]))}",
            f"last       {states[-1]}, which {'is right' if states[-1] == 0 else 'should be 0'}",
        ]

    return steps


def parity_steps(text: str) -> list[str]:
    """The step of a parity check: the number of ones, and whether it is even."""
    ones = text.count("1")
    return [f"ones       {ones}, which is {'odd' if ones & 1 else 'even'}"]


def _join(bits: object) -> str:
    return "".join(map(str, np.asarray(bits).tolist()))


def hamming_steps(code: Hamming, received: Received) -> list[str]:
    """The steps of Hamming decoding: the syndrome of one word, and the row of H that it equals."""
    bits = as_symbols(received, code.n, symbols=2, what="received words")
    syndrome = code.syndromes(bits)
    decoded = code.decode(bits)
    steps = [f"received   {_join(bits)}", f"syndrome   {_join(syndrome)}"]
    if not syndrome.any():
        return [*steps, "the syndrome is 0: the word is in the code"]
    if not decoded.decoded:
        return [*steps, "no row of H is the syndrome: two bits or more are wrong, failure"]
    place = int(decoded.positions[0])
    return [*steps, f"row of H   {place + 1}: bit {place + 1} is turned over", f"corrected  {_join(decoded.word)}"]


def repetition_steps(code: Repetition, received: Received) -> list[str]:
    """The steps of a majority vote: the copies of each symbol, and the most frequent one."""
    symbols = as_symbols(received, code.n, symbols=code.symbols, what="received words")
    decoded = code.decode(symbols)
    groups = [_join(group) for group in symbols.reshape(code.k, code.times)]
    steps = [f"received   {' '.join(groups)}", f"most say   {' '.join(map(str, decoded.message.tolist()))}"]
    return steps if decoded.decoded else [*steps, "as many copies say one thing as another: failure"]
