"""The figures of the documents, and the studies and pages that draw what they show."""

from __future__ import annotations

from collections.abc import Iterator

from bruit.apps.studies.printed.rows import Printed

NO_NUMBERS = "Drawn without numbers."
OF_OTHERS = "A picture of others."
ASKED = "Asked for, not printed."
NOT_DRAWN = "A drawing of how a program is built; ours is told in how_it_works.md."

FIGURES = (
    ("S0.4", "frequencies of the marital status and their estimates", "shares", "krr-marital", ASKED),
    ("S0.4", "dispersion of the estimator", "dispersion", "krr-marital", ASKED),
    ("S0.6", "accuracy against seven ε", "same reports", "krr-learning", ASKED),
    ("S1.1", "a regression tree", "tree, depths", "boosting", NO_NUMBERS),
    (
        "S1.1",
        "a classification tree; the tree of the program, filled",
        "tree",
        "trees",
        "A program without its output.",
    ),
    ("S1.1", "three groups and their entropy", "tree", "trees", "The entropies are among the numbers."),
    ("S1.2", "boosting: trees that mend each other's errors", "steps, trees", "boosting", OF_OTHERS),
    ("S1.4", "message, code word, error, estimate", "capacity, curves", "codes", NO_NUMBERS),
    ("S1.9", "noised counts of 100 and 101 employees", "neighbours", "noise", NO_NUMBERS),
    ("S1.10", "31 Chrome homepages, about 14 million reports", "chrome", "rappor", OF_OTHERS),
    ("S1.10", "the most popular emoji (Apple), telemetry (Microsoft)", "page local.md", "", OF_OTHERS),
    ("S2.5", "belief after an answer, one ε and several", "one epsilon, many epsilons", "belief", ""),
    ("S2.7", "curator, respondents, shuffler", "epsilon 0.2, epsilon 1", "trust", NO_NUMBERS),
    ("S2.8", "Laplace beside Gauss", "laws", "noise", NO_NUMBERS),
    ("S2.12", "ε against the Rényi order", "order", "budget", ""),
    (
        "S2.12",
        "ε against size, batch size, noise, both, epochs, δ",
        "size, batch size, noise, noise and batch size, epochs, delta",
        "budget",
        "",
    ),
    ("S2.13", "neuron, layers, convolution, pooling", "notebook deep_learning", "", OF_OTHERS),
    (
        "S2.14",
        "calls of the private step and of the accountant (figures 2 to 4)",
        "page how_it_works.md",
        "",
        NOT_DRAWN,
    ),
    ("S2.15", "the network for digits (figure 1)", "notebook deep_learning", "", NO_NUMBERS),
    ("S2.16", "accuracy against epochs, by learning rate and by batch size", "curves", "flowers", "Needs the images."),
    ("S2.17", "memory against hidden units, with jumps", "hidden units", "memory", ""),
    ("S2.18", "v = 68 through RAPPOR, 256 bits, 4 hashes", "notebook rappor", "", OF_OTHERS),
    ("S3.5", "the cut into steps of equal width", "cut", "deciles", NO_NUMBERS),
    (
        "S4.1",
        "accuracy against ε",
        "adult voters, adult methods",
        "knn",
        "Only its title is printed; three other tables beside.",
    ),
)
"""Item, what its document draws, our figures (or a page, a notebook), their study, and what differs."""


def rows() -> Iterator[Printed]:
    """Every figure of the five documents, and ours."""
    for item, what, ours, study, why in FIGURES:
        theirs = "asked for" if why == ASKED else "a title" if item == "S4.1" else "a figure"
        yield Printed(item, what, theirs, ours, why, study)
