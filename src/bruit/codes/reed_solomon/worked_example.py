"""Reed–Solomon decoding step by step, as it is taught: one linear system after another.

Slow and plain on purpose: it shares nothing with the fast decoder but the field, so each checks the other.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.codes.block.binary_field import Field
from bruit.codes.reed_solomon.code import ReedSolomon
from bruit.codes.word import as_symbols
from bruit.errors import InvalidArgument


@dataclass(frozen=True)
class Explanation:
    """The results of each decoding step; positions are powers of x, so position 0 is the last symbol."""

    received: tuple[int, ...]
    syndromes: tuple[int, ...]
    erasures: tuple[int, ...]
    locator: tuple[int, ...]
    roots: tuple[int, ...]
    places: tuple[int, ...]
    values: tuple[int, ...]
    word: tuple[int, ...] | None

    def lines(self) -> list[str]:
        """The steps as sentences."""
        said = [f"received   {polynomial(self.received)}", f"syndromes  {' '.join(map(str, self.syndromes))}"]
        if self.erasures:
            said.append(f"erased     {', '.join(f'x^{place}' for place in self.erasures)}")
        if not any(self.syndromes):
            return [*said, "every syndrome is 0: the word is in the code"]
        if self.word is None:
            return [
                *said,
                f"locator    {polynomial(self.locator[::-1])}",
                "no word of the code is near enough: failure",
            ]
        return [
            *said,
            f"locator    {polynomial(self.locator[::-1], rising=True)}",
            f"roots      {' '.join(map(str, self.roots))}",
            f"places     {' '.join(map(str, self.places))}",
            f"values     {' '.join(map(str, self.values))}",
            f"corrected  {polynomial(self.word)}",
        ]


def polynomial(coefficients: ArrayLike, *, rising: bool = False) -> str:
    """A polynomial as text, from coefficients with the highest degree first."""
    terms = []
    for degree, coefficient in enumerate(np.asarray(coefficients).tolist()[::-1]):
        factor = "" if coefficient == 1 and degree else str(coefficient)
        if coefficient:
            terms.append(factor + ("" if degree == 0 else "x" if degree == 1 else f"x^{degree}"))
    return " + ".join(terms if rising else terms[::-1]) or "0"


def explain(code: ReedSolomon, received: ArrayLike, *, erasures: ArrayLike = ()) -> Explanation:
    """Corrects one word by Peterson's method: syndromes, locator, its roots, the values.   [Peterson 1960]

    S_i = r(α^(b+i)); the locator Λ = ∏ (1 + X·x) is found from the largest number of errors ν ≤ (n−k−S)/2 whose
    linear system is not singular; the values solve Σ Y·X^(b+i) = S_i.
    """
    word = as_symbols(received, code.n, symbols=code.symbols, what="received words")
    if word.ndim != 1:
        raise InvalidArgument(f"a batch of shape {word.shape} cannot be explained at once; give one word")
    field = code.field
    lost = sorted({code.n - 1 - int(place) for place in np.asarray(erasures, np.int64)})
    if len(lost) > code.checks or any(not 0 <= place < code.n for place in lost):
        raise InvalidArgument(f"erasures must be at most {code.checks} places from 0 to {code.n - 1}")
    points = field.power(code.first_root + np.arange(code.checks))
    syndromes = field.evaluate(word, points)
    locator = _locator(field, syndromes, lost)
    places = [place for place in range(field.order) if not int(field.evaluate(locator[::-1], field.power(-place)))]
    values, fixed = _values(code, word, syndromes, places) if len(places) == locator.size - 1 else ([], None)
    return Explanation(
        _numbers(word),
        _numbers(syndromes),
        tuple(lost),
        _numbers(locator),
        _numbers(field.power(-np.array(places, np.int64))) if places else (),
        tuple(places),
        tuple(values),
        fixed,
    )


def _numbers(array: ArrayLike) -> tuple[int, ...]:
    return tuple(np.asarray(array).tolist())


def _locator(field: Field, syndromes: NDArray[np.uint16], lost: list[int]) -> NDArray[np.uint16]:
    """Lowest degree first: the erased places' locator times the errors'."""
    erased = np.ones(1, np.uint16)
    for place in lost:
        erased = field.convolve(erased, [1, int(field.power(place))])
    changed = field.convolve(syndromes, erased)[len(lost) : syndromes.size]  # the syndromes of the errors alone
    for count in range(changed.size // 2, 0, -1):
        rows = np.array([changed[i : i + count] for i in range(count)])
        solved = solve(field, rows, changed[count : 2 * count])
        if solved is not None:
            return field.convolve(erased, np.concatenate([[1], solved[::-1]]))
    return erased


def _values(
    code: ReedSolomon, word: NDArray[np.uint16], syndromes: NDArray[np.uint16], places: list[int]
) -> tuple[list[int], tuple[int, ...] | None]:
    """The values that explain every syndrome, and the corrected word; None where there are none."""
    if any(place >= code.n for place in places):
        return [], None
    fixed = word.copy()
    values: list[int] = []
    if places:
        powers = code.field.power(np.outer(code.first_root + np.arange(code.checks), places))
        solved = solve(code.field, powers[: len(places)], syndromes[: len(places)])
        values = [] if solved is None else solved.tolist()
        for place, value in zip(places, values, strict=False):
            fixed[code.n - 1 - place] ^= value
    left = code.field.evaluate(fixed, code.field.power(code.first_root + np.arange(code.checks)))
    return values, None if left.any() else _numbers(fixed)


def solve(field: Field, matrix: NDArray[np.uint16], right: NDArray[np.uint16]) -> NDArray[np.uint16] | None:
    """The solution of a square linear system over the field, or None where it is singular."""
    work = np.hstack([matrix, np.asarray(right)[:, None]]).astype(np.uint16)
    for column in range(len(work)):
        pivots = np.flatnonzero(work[column:, column])
        if not pivots.size:
            return None
        work[[column, column + pivots[0]]] = work[[column + pivots[0], column]]
        work[column] = field.multiply(work[column], field.inverse(work[column, column]))
        others = np.arange(len(work)) != column
        work[others] ^= field.multiply(work[others, column][:, None], work[column][None, :])
    return work[:, -1]
