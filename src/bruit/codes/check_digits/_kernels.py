"""Check digits of many values at once, on the bytes of a column.

Value i stands at text[starts[i]:stops[i]], or, when `width` is not zero, at text[i * width:(i + 1) * width].
A verdict is WRONG, RIGHT or UNREADABLE (another length, another character: perhaps separators, taken out on a second
look). A key is the check digits as a number, or UNREADABLE_KEY.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit._jit import inlined, kernel

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

WRONG, RIGHT, UNREADABLE = np.uint8(0), np.uint8(1), np.uint8(2)
UNREADABLE_KEY = np.int64(-1)
LA_POSTE = 356000000  # establishments of this company follow another rule than Luhn's
LA_POSTE_HEAD_OFFICE = 35600000000048  # except this one


@inlined
def _load8(text: Bytes, at: Any) -> Any:
    """Eight bytes as one little-endian word; the compiler makes it a single load."""
    return (
        np.uint64(text[at])
        | (np.uint64(text[at + 1]) << np.uint64(8))
        | (np.uint64(text[at + 2]) << np.uint64(16))
        | (np.uint64(text[at + 3]) << np.uint64(24))
        | (np.uint64(text[at + 4]) << np.uint64(32))
        | (np.uint64(text[at + 5]) << np.uint64(40))
        | (np.uint64(text[at + 6]) << np.uint64(48))
        | (np.uint64(text[at + 7]) << np.uint64(56))
    )


@inlined
def _luhn8(digits: Any, doubled: Any) -> Any:
    """The Luhn sum of eight digit values, one per byte, and a word that is not zero if one is no digit.

    `doubled` holds 0xff at the bytes to double; adding 0x76 to a byte carries into its top bit from ten on.
    """
    bad = ((digits + np.uint64(0x7676767676767676)) | digits) & np.uint64(0x8080808080808080)
    twice = (digits & doubled) << np.uint64(1)
    ten_or_more = ((twice + np.uint64(0x7676767676767676)) >> np.uint64(7)) & np.uint64(0x0101010101010101)
    summands = (digits & ~doubled) + twice - ten_or_more * np.uint64(9)
    return (summands * np.uint64(0x0101010101010101)) >> np.uint64(56), bad


@inlined
def _luhn_short(text: Bytes, at: Any, width: Any) -> Any:
    """The verdict on 8 to 16 digits in two word operations, the second over what the first left out."""
    even = np.uint64(0x00FF00FF00FF00FF)
    zero = np.uint64(0x3030303030303030)
    head = even if width & 1 == 0 else ~even
    fresh = ~np.uint64(0) << np.uint64(8 * (16 - width)) if width > 8 else np.uint64(0)
    total, bad = _luhn8(_load8(text, at) ^ zero, head)
    more, worse = _luhn8((_load8(text, at + width - 8) ^ zero) & fresh, even)
    right = RIGHT if (total + more) % np.uint64(10) == np.uint64(0) else WRONG
    return UNREADABLE if (bad | worse) != np.uint64(0) else right


@kernel
def _luhn_sum(text: Bytes, at: Any, width: Any, parity: Any) -> Any:
    """The Luhn sum of any number of digits, or −1; digit j is doubled where width − j is odd or even as `parity` is."""
    total = np.int64(0)
    bad = np.uint8(0)
    for j in range(width):
        digit = np.uint8(text[at + j] - np.uint8(48))
        bad |= np.uint8(digit > 9)
        value = np.int64(digit)
        if (width - j) & 1 == parity:
            value = 2 * value - (9 if value > 4 else 0)
        total += value
    return np.int64(-1) if bad else total


@kernel
def _luhn_any(text: Bytes, at: Any, width: Any) -> Any:
    total = _luhn_sum(text, at, width, 0)
    if total < 0 or width < 2:
        return UNREADABLE
    return RIGHT if total % 10 == 0 else WRONG


@kernel
def luhn(text: Bytes, starts: Places, stops: Places, width: int, digits: int, verdict: Bytes) -> None:
    """Whether numbers of exactly `digits` digits (two or more when `digits` is zero) pass Luhn's check."""
    if 8 <= width <= 16 and (digits == 0 or digits == width):
        for i in range(verdict.size):
            verdict[i] = _luhn_short(text, i * width, width)
        return
    for i in range(verdict.size):
        start = i * width if width else starts[i]
        size = width if width else stops[i] - start
        if digits != 0 and size != digits:
            verdict[i] = UNREADABLE
        elif 8 <= size <= 16:
            verdict[i] = _luhn_short(text, start, size)
        else:
            verdict[i] = _luhn_any(text, start, size)


@kernel
def luhn_key(text: Bytes, starts: Places, stops: Places, width: int, digits: int, keys: Places) -> None:
    """The Luhn check digit of numbers of digits − 1 digits (any length when `digits` is zero)."""
    for i in range(keys.size):
        start = i * width if width else starts[i]
        size = width if width else stops[i] - start
        total = np.int64(-1) if size < 1 or (digits != 0 and size != digits - 1) else _luhn_sum(text, start, size, 1)
        keys[i] = (10 - total % 10) % 10 if total >= 0 else UNREADABLE_KEY


@kernel
def _number(text: Bytes, at: Any, width: Any) -> Any:
    """A decimal number, or −1."""
    value = np.int64(0)
    bad = np.uint8(0)
    for j in range(width):
        digit = np.uint8(text[at + j] - np.uint8(48))
        bad |= np.uint8(digit > 9)
        value = value * 10 + np.int64(digit)
    return np.int64(-1) if bad else value


@kernel
def _digit_sum(number: Any) -> Any:
    total = np.int64(0)
    while number:
        total += number % 10
        number //= 10
    return total


@kernel
def siret(text: Bytes, starts: Places, stops: Places, width: int, verdict: Bytes) -> None:
    """Whether fourteen digits, and their first nine (the SIREN), pass Luhn's check; La Poste has its own rule."""
    for i in range(verdict.size):
        start = i * width if width else starts[i]
        if (width if width else stops[i] - start) != 14:
            verdict[i] = UNREADABLE
            continue
        verdict[i] = _luhn_short(text, start, 14)
        if verdict[i] == RIGHT:
            verdict[i] = _luhn_short(text, start, 9)
        if verdict[i] != UNREADABLE and _number(text, start, 9) == LA_POSTE:
            whole = _number(text, start, 14)
            verdict[i] = RIGHT if whole == LA_POSTE_HEAD_OFFICE or _digit_sum(whole) % 5 == 0 else WRONG


@kernel
def siret_key(text: Bytes, starts: Places, stops: Places, width: int, keys: Places) -> None:
    """The fourteenth digit of a SIRET; for La Poste, the smaller of the two that its rule allows."""
    for i in range(keys.size):
        start = i * width if width else starts[i]
        size = width if width else stops[i] - start
        total = _luhn_sum(text, start, size, 1) if size == 13 else np.int64(-1)
        if total < 0 or _luhn_any(text, start, 9) != RIGHT:
            keys[i] = UNREADABLE_KEY
            continue
        keys[i] = (10 - total % 10) % 10
        whole = _number(text, start, 13)
        if whole // 10000 == LA_POSTE and whole != LA_POSTE_HEAD_OFFICE // 10:
            keys[i] = (5 - _digit_sum(whole) % 5) % 5


@inlined
def _read8(digits: Any) -> Any:
    """The number that eight digit values spell, one per byte, the first in the lowest byte: pairs, fours, then all."""
    pairs = ((digits * np.uint64(0xA01)) >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    fours = ((pairs * np.uint64(0x640001)) >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    return (fours * np.uint64(0x271000000001)) >> np.uint64(32)


@inlined
def _nir_head(text: Bytes, at: Any) -> Any:
    """The first eight characters as digit values, 2A read as 19 and 2B as 18."""
    digits = _load8(text, at) ^ np.uint64(0x3030303030303030)
    department = (digits >> np.uint64(40)) & np.uint64(0xFFFF)
    if department == np.uint64(0x7102):  # 2 and A, less the code of 0
        digits ^= np.uint64(0x7102 ^ 0x0901) << np.uint64(40)
    elif department == np.uint64(0x7202):
        digits ^= np.uint64(0x7202 ^ 0x0801) << np.uint64(40)
    return digits


@inlined
def _nir_verdict(text: Bytes, at: Any) -> Any:
    head = _nir_head(text, at)
    tail = (_load8(text, at + 7) ^ np.uint64(0x3030303030303030)) & ~np.uint64(0xFF)  # without the eighth character
    bad = (head + np.uint64(0x7676767676767676)) | head | (tail + np.uint64(0x7676767676767676)) | tail
    ending = _read8(tail)
    key = ending % np.uint64(100)
    value = _read8(head) * np.uint64(100000) + ending // np.uint64(100)
    right = RIGHT if np.uint64(97) - value % np.uint64(97) == key else WRONG
    return UNREADABLE if bad & np.uint64(0x8080808080808080) != np.uint64(0) else right


@kernel
def nir(text: Bytes, starts: Places, stops: Places, width: int, verdict: Bytes) -> None:
    """Whether thirteen characters are followed by the right key, 97 − (number mod 97)."""
    if width == 15:
        for i in range(verdict.size):
            verdict[i] = _nir_verdict(text, i * 15)
        return
    for i in range(verdict.size):
        start = i * width if width else starts[i]
        fits = (width if width else stops[i] - start) == 15
        verdict[i] = _nir_verdict(text, start) if fits else UNREADABLE


@kernel
def nir_key(text: Bytes, starts: Places, stops: Places, width: int, keys: Places) -> None:
    """The two-digit key of thirteen characters."""
    for i in range(keys.size):
        start = i * width if width else starts[i]
        keys[i] = UNREADABLE_KEY
        if (width if width else stops[i] - start) == 13:
            head = _nir_head(text, start)
            bad = ((head + np.uint64(0x7676767676767676)) | head) & np.uint64(0x8080808080808080)
            low = _number(text, start + 8, 5)
            if bad == np.uint64(0) and low >= 0:
                keys[i] = 97 - (np.int64(_read8(head)) * 100000 + low) % 97


@kernel
def _character(code: Any) -> Any:
    """0–9 for digits, 10–35 for capital letters, 99 for anything else."""
    if 48 <= code <= 57:
        return np.int64(code) - 48
    if 65 <= code <= 90:
        return np.int64(code) - 55
    return np.int64(99)


@kernel
def _iban_remainder(text: Bytes, at: Any, size: Any, skip: Any, forms: Bytes, country: Any) -> Any:
    """(account, country, 00) mod 97, the account after `skip` characters; −1 where the form is not the country's.

    forms holds for each country and place of the account 1 for a digit, 2 for a letter, 3 for either, 0 past its end.
    """
    first, second = _character(text[at]), _character(text[at + 1])
    if not (10 <= first < 36 and 10 <= second < 36):
        return np.int64(-1)
    form = (first - 10) * 26 + second - 10
    length = size - skip
    if forms[form, 0] == 0 or forms[form, length - 1] == 0 or forms[form, length] != 0:
        return np.int64(-1)
    if country >= 0 and form != country:
        return np.int64(-1)
    remainder = np.int64(0)
    for j in range(length):
        value = _character(text[at + skip + j])
        kind = forms[form, j]
        if value == 99 or (kind == 1 and value > 9) or (kind == 2 and value < 10):
            return np.int64(-1)
        remainder = (remainder * (10 if value < 10 else 100) + value) % 97
    return (((remainder * 100 + first) * 100 + second) * 100) % 97


@kernel
def iban(text: Bytes, starts: Places, stops: Places, width: int, forms: Bytes, country: int, verdict: Bytes) -> None:
    """Whether IBANs have the right check digits and country format; `country` is a row of `forms`, or −1 for any."""
    for i in range(verdict.size):
        start = i * width if width else starts[i]
        size = width if width else stops[i] - start
        verdict[i] = UNREADABLE
        if 5 <= size <= 34:
            key = _number(text, start + 2, 2)
            remainder = _iban_remainder(text, start, size, 4, forms, country)
            if key >= 0 and remainder >= 0:
                verdict[i] = RIGHT if key == 98 - remainder else WRONG


@kernel
def iban_key(text: Bytes, starts: Places, stops: Places, width: int, forms: Bytes, country: int, keys: Places) -> None:
    """The two check digits of a country followed at once by the account."""
    for i in range(keys.size):
        start = i * width if width else starts[i]
        size = width if width else stops[i] - start
        keys[i] = UNREADABLE_KEY
        if 3 <= size <= 32:
            remainder = _iban_remainder(text, start, size, 2, forms, country)
            keys[i] = 98 - remainder if remainder >= 0 else UNREADABLE_KEY


@kernel
def compact(
    text: Bytes, starts: Places, stops: Places, clean: Bytes, clean_starts: Places, clean_stops: Places
) -> None:
    """Copies the values without spaces, hyphens and dots, letters made capitals."""
    at = 0
    for i in range(starts.size):
        clean_starts[i] = at
        for j in range(starts[i], stops[i]):
            code = text[j]
            if code == 32 or code == 45 or code == 46:
                continue
            clean[at] = code - 32 if 97 <= code <= 122 else code
            at += 1
        clean_stops[i] = at
