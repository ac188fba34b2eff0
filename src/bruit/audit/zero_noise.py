"""Checks sensitivities without sampling: compares exact integers of zero-noise runs on neighbouring small tables.

While one listens, every sampler of noise gives zeros that note what they are added to, so that the exact integers of
any release are known, whoever wrote it: a statistic, the fit of an estimator, scores of the user's own. The release is
run on one table and noted; on a neighbouring table it is given the noted answers, so that whatever comes after
depends on the same answers, as in the proof of adaptive composition. Between the two each noise has then a price:

    discrete Laplace   |moved|_1 / scale           cube    the largest move of each block / scale
    choice             2 exponent * largest move of a score, or half where all move one way and it says `monotone`
    discrete Gaussian  |moved|_2^2 / (2 variance), as rho

Their sum must not exceed what the loss in the book amounts to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels.choices import Choice, Exponential, PermuteAndFlip
from bruit.channels.integer_noise import IntegerNoise
from bruit.channels.vector_noise import CubeNoise
from bruit.core.losses import Approximate, BoundedRange, Loss, Pure
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE, Neighbours
from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy.accounting.composition import basic
from bruit.privacy.accounting.concentrated import concentrated_price, zcdp
from bruit.randomness import discrete_gaussian, discrete_laplace

R = TypeVar("R")
ROUNDING = 1e-9
"""How far a sum of prices in floating point may lie above the exact one."""


@dataclass(frozen=True)
class Use:
    """One use of noise: its law, its parameter, and the exact integers that it was added to."""

    law: str
    parameter: Fraction
    exact: NDArray[Any]
    monotone: bool = False
    entries: int = 1
    """Of a cube: how many integers one block has."""


@dataclass
class Tape:
    """Records each use of noise in one run; can replay the noisy answers of an earlier run."""

    uses: list[Use] = field(default_factory=list)
    answers: Sequence[Any] | None = None
    given: list[Any] = field(default_factory=list)
    draws: list[RecordingZeros] = field(default_factory=list)
    """Every array of zeros that was handed out; keeping them alive keeps their addresses unique."""
    added: set[int] = field(default_factory=set)
    """Memory addresses of the zeros that were added to something."""
    faults: list[str] = field(default_factory=list)

    def note(self, use: Use, answer: Any) -> Any:
        """Records a use of noise and returns its answer, or the answer replayed from the earlier run."""
        place = len(self.uses)
        self.uses.append(use)
        if self.answers is not None and place < len(self.answers):
            answer = self.answers[place]
        self.given.append(answer)
        return answer

    def add(self, zeros: RecordingZeros) -> None:
        """Records that these zeros were added: one noise added to two numbers is a fault, their difference is exact."""
        start = np.asarray(zeros.__array_interface__["data"][0])
        places = sum(np.ix_(*(np.arange(n) * step for n, step in zip(zeros.shape, zeros.strides, strict=True))), start)
        found = set(np.ravel(places).tolist())
        if found & self.added:
            self.faults.append("the same noise was added twice")
        self.added |= found

    def forgotten(self) -> bool:
        """Whether some noise was drawn and added to nothing that could be recorded."""
        starts = [(zeros.__array_interface__["data"][0], zeros.nbytes) for zeros in self.draws if zeros.size]
        return any(not any(start <= each < start + size for each in self.added) for start, size in starts)

    def choose(self, kind: str, exponent: Fraction, scores: NDArray[Any], *, monotone: bool = False) -> int:
        """Records the scores of a private choice and returns the best index, or the one replayed from before."""
        return int(self.note(Use(kind, exponent, scores.copy(), monotone), int(np.argmax(scores))))


class RecordingZeros(np.ndarray[Any, np.dtype[np.int64]]):
    """An array of zeros in the place of noise; records on a tape what it is added to."""

    tape: Tape
    law: str
    parameter: Fraction
    entries: int

    def __array_finalize__(self, obj: Any) -> None:
        for name in ("tape", "law", "parameter", "entries"):
            if hasattr(obj, name):
                setattr(self, name, getattr(obj, name))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **more: Any) -> Any:
        plain = [np.asarray(each) for each in inputs]
        if ufunc is not np.add or method != "__call__":
            return getattr(ufunc, method)(*plain, **more)
        exact = plain[1 if inputs[0] is self else 0]
        self.tape.add(self)
        use = Use(self.law, self.parameter, _whole(exact, self.shape), entries=self.entries)
        found = self.tape.note(use, plain[0] + plain[1])
        if out is None:
            return found
        out[0][...] = found
        return out[0]


def _whole(exact: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    return np.array(np.broadcast_to(exact, np.broadcast_shapes(exact.shape, shape)))


def recording_zeros(tape: Tape, law: str, parameter: Any, shape: Any, entries: int = 1) -> RecordingZeros:
    """Makes an array of zeros of a shape that records on the tape what it is added to."""
    zeros = np.zeros(shape, np.int64).view(RecordingZeros)
    zeros.tape, zeros.law, zeros.parameter, zeros.entries = tape, law, Fraction(parameter), entries
    tape.draws.append(zeros)
    return zeros


def recording_cube(tape: Tape, noise: CubeNoise, blocks: int) -> RecordingZeros:
    """Makes recording zeros in the place of `CubeNoise`, one row for each block."""
    return recording_zeros(tape, "cube", noise.scale, (blocks, noise.entries), noise.entries)


TAPES: list[Tape] = []
"""The tapes in use, the innermost last; a sampler outside the package's own records on the last one."""


@contextmanager
def recording_noise(tape: Tape) -> Iterator[None]:
    """Replaces every noise sampler of the package by recording zeros; for one thread at a time."""
    samplers: dict[Any, Any] = {
        discrete_laplace: lambda scale, size=1, **_: recording_zeros(tape, "laplace", scale, size),
        discrete_gaussian: lambda variance, size=1, **_: recording_zeros(tape, "gaussian", variance, size),
    }
    changed: list[tuple[Any, str, Any]] = []

    def change(owner: Any, name: str, new: Any) -> None:
        changed.append((owner, name, vars(owner)[name]))
        setattr(owner, name, new)

    TAPES.append(tape)
    try:
        for module in [module for name, module in sys.modules.items() if name.startswith("bruit.")]:
            for name, value in list(vars(module).items()):
                if callable(value) and getattr(value, "__hash__", None) and value in samplers:
                    change(module, name, samplers[value])
        change(CubeNoise, "draw", lambda self, blocks, **_: recording_cube(tape, self, blocks))
        change(IntegerNoise, "send", lambda self, values, *_, **__: _sent(tape, self, values))
        for kind in (Exponential, PermuteAndFlip):
            change(kind, "send", lambda self, values, *_, **__: _chosen(tape, self, values))
        yield
    finally:
        TAPES.pop()
        for owner, name, value in reversed(changed):
            setattr(owner, name, value)


def _sent(tape: Tape, noise: IntegerNoise, values: Any) -> Any:
    exact = np.asarray(values, object if isinstance(values, int) else None)
    law = "laplace" if hasattr(noise.loss, "scale") else "gaussian"
    parameter = noise.loss.scale if hasattr(noise.loss, "scale") else noise.loss.variance
    found = tape.note(Use(law, parameter, exact.copy()), exact.copy())
    return int(found) if isinstance(values, int) else found


def _chosen(tape: Tape, choice: Choice, scores: Any) -> int:
    exact = np.array([int(each) for each in scores], object)
    return tape.choose(choice.kind, choice.exponent, exact, monotone=choice.monotone)


@dataclass(frozen=True)
class SensitivityCheck:
    """The loss that small tables really reached beside the loss charged: epsilon, or rho for Gaussian noise."""

    name: str
    neighbours: Neighbours
    measure: str
    charged: float
    reached: float
    uses: int
    tables: int
    fault: str = ""

    @property
    def holds(self) -> bool:
        """Whether no pair of small tables lost more than was charged."""
        return not self.fault and self.reached <= self.charged * (1 + ROUNDING)

    def to_json(self) -> dict[str, Any]:
        """The result in JSON types."""
        found = {"measure": self.measure, "claimed": self.charged, "reached": self.reached, "tables": self.tables}
        verdict = "passes" if self.holds else "fails"
        return {"name": self.name, "neighbours": self.neighbours.value, **found, "verdict": verdict}


def check_sensitivity(
    name: str,
    release: Callable[[Sequence[R], Neighbours], Loss],
    people: Sequence[Sequence[R]],
    *,
    others: Sequence[R] = (),
) -> list[SensitivityCheck]:
    """Compares the loss reached on all pairs of small neighbouring tables with the charge, for both relations.

    `release(rows, neighbours)` pays for an answer and gives back the loss that was charged; it must draw whatever is
    not noise from a fixed seed, and noise from the samplers of this package as they are found there: by attribute at
    each call, added by `+`. `people` are the rows of different persons, of whom one is in the table or another;
    `others` are rows of everybody else. Nobody is a person too: whoever is replaced has at least one row.

    Laws, parameters, numbers of uses and charges must be the same on neighbours; noise that is added to nothing, or
    twice, is a fault too.
    """
    if not any(len(person) for person in people):
        raise InvalidArgument("people= holds nobody: give the rows of at least one person")
    return [_walk(name, release, people, others, neighbours) for neighbours in (ADD_OR_REMOVE_ONE, REPLACE_ONE)]


def _walk(name: str, release: Any, people: Any, others: Any, neighbours: Neighbours) -> SensitivityCheck:
    reached, uses, tables, fault = 0.0, 0, 0, ""
    loss: Loss | None = None
    if neighbours is REPLACE_ONE:
        people = [person for person in people if person]
    for start in [()] if neighbours is ADD_OR_REMOVE_ONE else people:
        first = Tape()
        with recording_noise(first):
            loss = release([*others, *start], neighbours)
        gaussian = any(use.law == "gaussian" for use in first.uses)
        for person in people:
            tape = Tape(answers=first.given)
            with recording_noise(tape):
                charge = release([*others, *person], neighbours)
            tables += 1
            fault = fault or _difference(first, tape) or ("" if charge == loss else "the charge depends on a record")
            if [use.exact.shape for use in tape.uses] != [use.exact.shape for use in first.uses]:
                continue
            pairs = zip(first.uses, tape.uses, strict=True)
            reached = max(reached, sum(_price(one, other, neighbours, rho=gaussian) for one, other in pairs))
        uses = max(uses, len(first.uses))
    measure, charged = _charged(loss, gaussian=gaussian)
    if gaussian and isinstance(loss, Pure):
        fault = fault or "Gaussian noise is charged as a pure loss"
    return SensitivityCheck(
        name, neighbours, measure, charged, reached, uses, tables, fault or ("" if uses else "no noise was heard")
    )


def _difference(first: Tape, second: Tape) -> str:
    """What the noise of two neighbouring tables says about a record, or how it was misused; empty for nothing."""
    shapes, laws = (
        [[of(use) for use in tape.uses] for tape in (first, second)]
        for of in (lambda use: use.exact.shape, lambda use: (use.law, use.parameter, use.monotone, use.entries))
    )
    if shapes[0] != shapes[1]:
        return f"{len(shapes[1])} uses of noise beside {len(shapes[0])}: what is asked depends on a record"
    if laws[0] != laws[1]:
        return "the law or the width of a noise depends on a record"
    for tape in (first, second):
        if tape.faults or tape.forgotten():
            return next(iter(tape.faults), "noise was drawn and added to nothing that can be seen")
    return ""


def _charged(loss: Loss | None, *, gaussian: bool) -> tuple[str, float]:
    assert loss is not None
    if isinstance(loss, Approximate) and gaussian:
        return "rho", float(concentrated_price(float(loss.epsilon), float(loss.delta)))
    if gaussian:
        return "rho", float(zcdp(loss))
    try:
        return "epsilon", float(basic(loss)[0])
    except NotPrivate:
        return "rho", float(zcdp(loss))


def _price(one: Use, other: Use, neighbours: Neighbours, *, rho: bool) -> float:
    """What one noise lost between two tables, as epsilon or as rho."""
    moved = np.abs(np.asarray(other.exact - one.exact, np.float64))
    parameter = float(one.parameter)
    if one.law == "gaussian":
        return float((moved**2).sum()) / (2 * parameter)
    if one.law == "cube":
        width = one.entries if moved.size % one.entries == 0 else moved.shape[-1]
        epsilon = float(moved.reshape(-1, width).max(-1, initial=0).sum()) / parameter
    elif one.law == "laplace":
        epsilon = float(moved.sum()) / parameter
    else:
        same_way = one.monotone and len({np.sign(each) for each in (other.exact - one.exact).tolist() if each}) < 2
        epsilon = parameter * float(moved.max(initial=0)) * (1 if same_way else 2)
    if not rho or epsilon == 0:
        return epsilon
    kind = BoundedRange if one.law == Exponential.kind else Pure
    return float(zcdp(kind(Fraction(epsilon), neighbours=neighbours)))
