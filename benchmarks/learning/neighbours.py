"""Nearest neighbours beside scikit-learn's brute force; a student of them, and learning from randomised answers.

The accuracies are means over seeds on UCI Adult, as its publisher splits it; the questions of the student go to the
first half of the test file, its public records come from the second.
"""

from __future__ import annotations

from typing import Any

from benchmarks.case import Case, Peer, Prepare, Work

ROWS, COLUMNS, QUESTIONS = 32_561, 107, 2_000
"""As large as Adult with one coordinate for each category."""

SLOWEST = 1 / 1.5
SEEDS = 20
SURVEYS = 10
SPLIT = 8_000
PUBLIC = 1_000


def points() -> tuple[Any, Any, Any]:
    """Records on a grid, two classes, and questions."""
    import numpy as np

    rng = np.random.default_rng(1)
    records, questions = (np.rint(rng.random((rows, COLUMNS)) * 2**20) for rows in (ROWS, QUESTIONS))
    return records, rng.integers(0, 2, ROWS), questions


def votes(voters: int) -> Prepare:
    def prepare() -> Work:
        from bruit.learning.nearest_neighbours.votes import count_votes

        records, labels, questions = points()
        return lambda: count_votes(records, labels, questions, nearest=voters, classes=2).argmax(axis=1)

    return prepare


def brute_force(voters: int) -> Prepare:
    def prepare() -> Work:
        from sklearn.neighbors import KNeighborsClassifier

        records, labels, questions = points()
        model = KNeighborsClassifier(voters, algorithm="brute").fit(records, labels)
        return lambda: model.predict(questions)

    return prepare


def student(epsilon: float) -> Prepare:
    """The mean accuracy on people who are neither private nor public records of the student."""

    def prepare() -> Work:
        import bruit
        from bruit.apps import data
        from bruit.apps.studies.knn.tables import ADULT_WEIGHTS, adult_columns, adult_domain

        training, test = data.adult("training"), data.adult("test")
        public = adult_columns(test[SPLIT : SPLIT + PUBLIC])
        people, answers = adult_columns(test[:SPLIT]), test["income"][:SPLIT]

        def once(seed: int) -> float:
            book = bruit.Ledger(
                "benchmark", epsilon=epsilon, delta=1e-5, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW
            )
            model = bruit.learning.Student(
                1001,
                public=public,
                domain=adult_domain(),
                classes=["<=50K", ">50K"],
                weights=ADULT_WEIGHTS,
                budget=book.budget(epsilon=epsilon, delta=1e-5),
                random_state=seed,
            )
            return float(model.fit(adult_columns(training), training["income"]).score(people, answers))

        return lambda: sum(once(seed) for seed in range(SEEDS)) / SEEDS

    return prepare


def survey(epsilon: float, method: str) -> Prepare:
    """The mean accuracy of one way to learn marital status from randomised answers."""

    def prepare() -> Work:
        import numpy as np

        from bruit.apps.studies.surveys.krr_learning import learn_once

        def once(seed: int) -> float:
            found = learn_once(rng=np.random.default_rng(seed), epsilon=epsilon, people=None, trees=1)
            return found[method]

        return lambda: sum(once(seed) for seed in range(SURVEYS)) / SURVEYS

    return prepare


def _right(name: str, ours: Prepare, goal: float) -> Case:
    return Case(name, "share right", "higher", ours, goal=goal, returned=True, calls=1, rounds=1)


CASES = [
    *(
        Case(
            f"{voters} nearest of {ROWS}",
            "questions/s",
            "higher",
            votes(voters),
            (Peer("scikit-learn brute force", brute_force(voters), times=SLOWEST, here=True),),
            amount=QUESTIONS,
        )
        for voters in (5, 101, 1001)
    ),
    *(_right(f"student, Adult income, total ε={epsilon:g}", student(epsilon), 0.835) for epsilon in (0.5, 1.0, 3.0)),
    *(
        _right(f"randomised answers, {method}, ε={epsilon:g} each", survey(epsilon, method), goal)
        for epsilon, goal in ((0.5, 0.4497), (1.0, 0.485), (5.0, 0.78))
        for method in ("logistic", "tree")
    ),
]
