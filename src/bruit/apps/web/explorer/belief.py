"""The range of an attacker's belief about one person after an answer of a given ε.

[docs/spec.md S2.5]
"""

from __future__ import annotations

import numpy as np

from bruit.apps.web.explorer.figure import Axis, Curve, Figure, Tool
from bruit.apps.web.explorer.parameters import Number, Values
from bruit.core.numbers import exactly
from bruit.privacy import belief, belief_table, premium

PRIORS = tuple(f"{value:.4g}" for value in np.linspace(0, 1, 101))
COMPARED = ("0.1", "0.5", "2")
"""Other epsilons that are drawn for comparison."""

EPSILON = Number("epsilon", "ε", "1", 0.01, 10, 0.0001, 100, "Of everything that is answered about one person.")
PRIOR = Number(
    "prior", "Belief before", "0.5", 0, 1, 0, 1, "How strongly the fact is believed before the answer.", log=False
)
FAIR = Number("premium", "Insurance premium", "2000", 10, 1e5, 0, 1e12, "An expected cost that the answer might raise.")


def figure(values: Values) -> Figure:
    """The range of the belief after the answer, against the belief before it."""
    epsilon, prior = values["epsilon"], values["prior"]
    here, cost = belief(prior, epsilon), premium(values["premium"], epsilon)
    frame = belief_table(PRIORS, (epsilon,))
    curves = [
        Curve(f"at most, ε = {epsilon}", frame["prior"].to_list(), frame["high"].to_list()),
        Curve(f"at least, ε = {epsilon}", frame["prior"].to_list(), frame["low"].to_list()),
    ]
    for other in COMPARED:
        highest = belief_table(PRIORS, (other,))
        curves.append(
            Curve(f"at most, ε = {other}", highest["prior"].to_list(), highest["high"].to_list(), dashed=True)
        )
    curves.append(Curve("nothing learnt", [0.0, 1.0], [0.0, 1.0], dashed=True))
    return Figure(
        title="Belief before and after the answer",
        x=Axis("belief before the answer"),
        y=Axis("belief after the answer"),
        curves=tuple(curves),
        facts=(
            ("before", f"{100 * here.prior:.4g} %"),
            ("after, at most", f"{100 * here.high:.2f} %"),
            ("after, at least", f"{100 * here.low:.2f} %"),
            (f"a premium of {float(exactly(values['premium'], 'premium')):g} becomes at most", f"{cost:.2f}"),
        ),
        sentence=f"Whoever believed a fact about you at {100 * here.prior:.4g}\u00a0% believes it at most at "
        f"{100 * here.high:.2f}\u00a0% after any answer of ε = {here.epsilon:g}, whatever else they know.",
        point=(here.prior, here.high),
    )


def code(values: Values) -> str:
    """A Python program that computes the same numbers as the figure."""
    epsilons = [values["epsilon"], *COMPARED]
    return (
        "import bruit\n\n"
        f"print(bruit.privacy.belief({values['prior']!r}, {values['epsilon']!r}))\n"
        f"print(bruit.privacy.premium({values['premium']!r}, {values['epsilon']!r}))\n"
        f'priors = [f"{{step / 100:.4g}}" for step in range({len(PRIORS)})]\n'
        f"frame = bruit.privacy.belief_table(priors, {epsilons!r})\n"
        "print(frame)\n"
    )


TOOL = Tool(
    name="belief",
    title="What ε means",
    lead="An answer of a given ε cannot change what anybody believes about one person by more than this.",
    parameters=(EPSILON, PRIOR, FAIR),
    figure=figure,
    code=code,
)
