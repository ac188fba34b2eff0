"""Several questions to the same person, with the total privacy loss of the person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bruit.channels import Support, checked_epsilon, log_above
from bruit.core.guarantee import Guarantee
from bruit.core.intervals import Covers
from bruit.core.losses import Pure
from bruit.core.numbers import Exact
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local import forecasts
from bruit.local.categories import Categories
from bruit.local.estimation.estimate import estimate
from bruit.local.frequencies.krr import KRR
from bruit.local.frequencies.unary import OUE
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.loss_proof import prove
from bruit.local.tally import Reports, Tally
from bruit.randomness import generator, is_strong, uniform_below

How = Literal["split", "sample", "fake"]


@dataclass(frozen=True, init=False, eq=False)
class Faked(KRR):
    """One of several attributes: k-ary randomised response if this attribute is drawn, else a uniformly random answer.

    Supported with chance (p + (d - 1) / k) / d when true and (q + (d - 1) / k) / d when not; `attributes` is d.
    """

    attributes: int

    def __init__(self, categories: Categories, *, epsilon: Exact, attributes: int, other: bool = False) -> None:
        self._fix(attributes=attributes)
        super().__init__(categories, epsilon=epsilon, other=other)

    @cached_property
    def support(self) -> Support:
        """Probabilities that a report names the true category, and a given other one, over the draw of an attribute."""
        fake = (self.attributes - 1) / len(self.categories)
        own = self.channel.support
        return Support((own.true + fake) / self.attributes, (own.false + fake) / self.attributes)

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        drawn = uniform_below(self.attributes, len(places), rng=rng) == 0
        return self.faked(places, drawn, rng)

    def faked(self, places: NDArray[np.int32], drawn: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int32]:
        """Randomised answers where this attribute was drawn, uniformly random ones elsewhere."""
        made_up = uniform_below(len(self.categories), len(places), rng=rng)
        return np.where(drawn, self.channel.send_checked(places, rng), made_up).astype(np.int32)

    def settings(self) -> dict[str, Any]:
        """The epsilon asked for and the number of attributes."""
        return {**super().settings(), "attributes": self.attributes}


@dataclass(frozen=True, init=False)
class Attributes:
    """Several questions under one total epsilon per person, by splitting, sampling or faking.

    `split` asks all of them at epsilon / d each. `sample` asks each person one, drawn at random and told, at epsilon.
    `fake` draws one too, but sends made-up answers to the others, so that nobody knows which was asked.
    [Arcolezi et al. 2022]

    The report of `fake` has chance (1/d) sum over j of W_j(x_j, y_j) times the product of 1 / k_l over the others. Two
    people may differ in every answer, so its loss is ln(sum k_j p_j / sum k_j q_j): at most epsilon, and no less than
    the least of the attributes'. Drawing one attribute at random does not amplify the privacy of a whole person. For
    people who differ in one answer only it does, and `one_answer` says by how much.
    """

    epsilon: Fraction
    how: How
    protocols: tuple[tuple[str, FrequencyProtocol], ...]

    def __init__(self, questions: Mapping[str, Categories], *, epsilon: Exact, how: How, other: bool = False) -> None:
        total = checked_epsilon(epsilon)
        if len(questions) < 2:
            raise InvalidArgument("several attributes are at least two; for one take its protocol alone")
        if how not in ("split", "sample", "fake"):
            raise InvalidArgument(f"how={how!r}: give 'split', 'sample' or 'fake'")
        share = total / len(questions) if how == "split" else total
        made = tuple((name, _protocol(listed, share, how, len(questions), other)) for name, listed in questions.items())
        for name, value in {"epsilon": total, "how": how, "protocols": made}.items():
            object.__setattr__(self, name, value)
        prove(self.loss, self.epsilon, gap=1)

    @property
    def loss(self) -> Fraction:
        """The total privacy loss of one person, from integer weights, rounded up."""
        losses = [Fraction(protocol.loss) for _, protocol in self.protocols]
        if self.how == "split":
            return sum(losses, Fraction(0))
        if self.how == "sample":
            return max(losses)
        kept, moved = 0, 0
        for _, protocol in self.protocols:
            if not isinstance(protocol, KRR):
                raise InvalidArgument("made-up answers need k-ary randomised response")
            kept += len(protocol.categories) * protocol.channel.keep
            moved += len(protocol.categories) * protocol.channel.other
        return log_above(kept, moved)

    def one_answer(self) -> Fraction:
        """The privacy loss of one answer towards somebody who knows all the person's other answers."""
        if self.how != "fake":
            return max(Fraction(protocol.loss) for _, protocol in self.protocols)
        laws = [(len(one.categories), one.channel) for _, one in self.protocols if isinstance(one, KRR)]
        worst = Fraction(0)
        for place, (size, channel) in enumerate(laws):
            rest = sum(k * c.other for other, (k, c) in enumerate(laws) if other != place)
            worst = max(worst, log_above(size * channel.keep + rest, size * channel.other + rest))
        return worst

    def randomise(self, table: Mapping[str, Any], *, rng: np.random.Generator | None = None) -> dict[str, Reports]:
        """The reports of each attribute; with `sample` each person reports on one attribute only."""
        source, columns = generator(rng), self._columns(table)
        people = len(next(iter(columns.values())))
        drawn = uniform_below(len(self.protocols), people, rng=source)
        reports = {}
        for place, (name, protocol) in enumerate(self.protocols):
            values, chosen = columns[name], drawn == place
            if self.how == "sample":
                values = values[chosen]
            if isinstance(protocol, Faked):
                made = protocol.faked(values, chosen, source)
            else:
                made = protocol._report(values, source)
            reports[name] = Reports(protocol, made, seeded=not is_strong(rng))
        return reports

    def tally(self, reports: Mapping[str, Reports]) -> dict[str, Tally]:
        """The tally of each attribute."""
        return {name: protocol.tally(reports[name]) for name, protocol in self.protocols}

    def estimate(
        self, tallies: Mapping[str, Tally], confidence: float = 0.95
    ) -> dict[str, Release[NDArray[np.float64]]]:
        """The shares of each attribute; every release carries the guarantee of the whole person."""
        found = {}
        for name, protocol in self.protocols:
            one = estimate(
                protocol,
                tallies[name],
                confidence,
                covers=Covers.POPULATION,
                method="exact",
                joint=False,
                adjust="none",
            )
            whole = Guarantee(
                self.epsilon,
                Fraction(0),
                one.guarantee.neighbours,
                f"one respondent, all {len(self.protocols)} answers",
                "law",
                one.guarantee.assumes,
            )
            found[name] = Release(
                one.value, whole, f"local.Attributes.{self.how}", one.labels, one.interval, one.noise, one.details
            )
        return found

    # ------------------------------------------------------------ before anyone is asked
    def expected_error(self, people: int, *, share: float | None = None, confidence: float = 0.95) -> dict[str, float]:
        """The half-width of the interval of a share (by default the worst) of each attribute, for this many people.

        With `sample`, an attribute has one answer in d: as many people as there are attributes, at least.
        """
        people = forecasts.checked_people(people) // (len(self.protocols) if self.how == "sample" else 1)
        return {name: one.expected_error(people, share=share, confidence=confidence) for name, one in self.protocols}

    def people_for(self, *, error: float, share: float | None = None, confidence: float = 0.95) -> int:
        """How many people must answer for a half-width of at most `error` in every attribute."""
        least = len(self.protocols)

        def worst(people: int) -> float:
            return max(self.expected_error(max(people, least), share=share, confidence=confidence).values())

        return max(least if self.how == "sample" else 1, forecasts.least_people(worst, forecasts.share_error(error)))

    def epsilon_for(self, *, error: float, people: int, share: float | None = None, confidence: float = 0.95) -> float:
        """The least epsilon per person, to four decimals, for a half-width of at most `error` in every attribute."""

        def worst(epsilon: float) -> float:
            return max(self.at(epsilon).expected_error(people, share=share, confidence=confidence).values())

        return forecasts.epsilon_for(worst, forecasts.share_error(error))

    def at(self, epsilon: float) -> Attributes:
        """The same questions and method (split, sample or fake) at another epsilon."""
        other = self.protocols[0][1].categories.other
        questions: dict[str, Categories] = {name: one.categories.listed for name, one in self.protocols}
        return Attributes(questions, epsilon=epsilon, how=self.how, other=other)

    def privacy(self) -> Pure:
        """The privacy loss of one person over all answers, ready to be composed."""
        return Pure(self.epsilon, neighbours=self.protocols[0][1].privacy().neighbours)

    def _columns(self, table: Mapping[str, Any]) -> dict[str, NDArray[np.int32]]:
        missing = [name for name, _ in self.protocols if name not in table]
        if missing:
            raise InvalidArgument(f"the table lacks the attributes {', '.join(missing)}")
        columns = {name: protocol.categories.indices(table[name]) for name, protocol in self.protocols}
        if len({len(column) for column in columns.values()}) != 1:
            raise InvalidArgument("every attribute needs one answer for each person")
        return columns


def _protocol(listed: Categories, epsilon: Fraction, how: How, count: int, other: bool) -> FrequencyProtocol:  # noqa: FBT001
    """The better of KRR and OUE for an attribute; made-up answers need KRR."""
    categories = listed if isinstance(listed, int) else tuple(listed)
    if how == "fake":
        return Faked(categories, epsilon=epsilon, attributes=count, other=other)
    krr, oue = KRR(categories, epsilon=epsilon, other=other), OUE(categories, epsilon=epsilon, other=other)
    rare = 1 / len(krr.categories)
    return krr if krr.support.variance(rare, 1) <= oue.support.variance(rare, 1) else oue
