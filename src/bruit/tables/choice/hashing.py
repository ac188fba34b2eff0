"""The keyed hash that orders a person's rows: integer arithmetic below 2^62, equal on every engine.

y = (a person + b row + c copy + ... + d) mod p, p = 2^31 - 1, then twice y <- y^5 + k mod p. Since gcd(5, p - 1) = 1
the fifth power permutes the residues: collisions are those of the first sum, and the powers break its linearity, which
alone would order the rows of all people alike up to a rotation. A poor hash could bias, never leak: for any key a
person's chosen rows are a function of that person's rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bruit.randomness import uniform_below
from bruit.tables.expressions.nodes import Coalesce, Constant, Field, Node, TextNumber
from bruit.tables.expressions.to_polars import MODULUS
from bruit.tables.relations.operations import PERSON, Operation, Project, same

ROUNDS = 2
WIDEST = 2**63 - 2**31
"""What a sum of products stays below before it is reduced."""


@dataclass(frozen=True)
class RowKey:
    """The secret key of the row hash: factors, offset, round constants, and a salt for texts."""

    factors: tuple[int, ...]
    offset: int
    added: tuple[int, ...]
    salt: str

    def factor(self, place: int) -> int:
        """The factor of a hash input by its place: person (0), row (1), copy (2), then each text column."""
        return self.factors[place]


TERMS = 16
"""The most numbers that enter one hash."""


def draw_row_key(rng: np.random.Generator) -> RowKey:
    """Draws a random key; its factors are never zero, so that no input of the hash is ignored."""
    factors = [1 + int(residue) for residue in uniform_below(MODULUS - 1, TERMS, rng=rng)]
    offset, *added = (int(residue) for residue in uniform_below(MODULUS, 1 + ROUNDS, rng=rng))
    salt = "".join(f"{int(word):08x}" for word in uniform_below(2**32, 4, rng=rng))
    return RowKey(tuple(factors), offset, tuple(added), salt)


@dataclass(frozen=True)
class Term:
    """An input of the hash: an integer expression from 0 to below `bound`, which is at most 2^31."""

    node: Node
    bound: int = MODULUS


def residue(name: str) -> Term:
    """An integer column modulo p, in [0, p) whatever sign the engine gives a remainder."""
    return Term((Field(name) % MODULUS + MODULUS) % MODULUS)


def row_term(name: str, size: int) -> Term:
    """An integer column from 0 to below `size` as a hash input, reduced modulo p only where `size` needs it."""
    return Term(Field(name), size) if size <= MODULUS else Term(Field(name) % MODULUS)


def text_residue(name: str, key: RowKey) -> Term:
    """A text column hashed to a residue; zero for a missing text."""
    return Term(Coalesce(TextNumber(Field(name), key.salt), Constant(0)))


def person_number(key: RowKey, *, text: bool) -> Term:
    """The person as a number (a text hashed, an integer reduced): orders their rows, never stands for them."""
    return text_residue(PERSON, key) if text else residue(PERSON)


def hashed(
    source: Operation, columns: tuple[str, ...], terms: Sequence[Term], key: RowKey, *, called: str
) -> Operation:
    """The columns, and beside them a column `called` with the hash of the terms.

    A product is reduced before it is added only where the sum could otherwise leave 63 bits: engines divide slowly.
    """
    total: Node = Constant(key.offset)
    bound = MODULUS
    for place, term in enumerate(terms):
        product, most = term.node * key.factor(place), term.bound * MODULUS
        if bound + most >= WIDEST:
            product, most = product % MODULUS, MODULUS
        total, bound = total + product, bound + most
    kept, square = same(columns), f"{called} squared"
    step: Operation = Project(source, (*kept, (called, total % MODULUS)))
    y, z = Field(called), Field(square)
    for added in key.added:
        step = Project(step, (*kept, *same((called,)), (square, y * y % MODULUS)))
        step = Project(step, (*kept, (called, (z * z % MODULUS * y + added) % MODULUS)))
    return step
