"""Trees and additive models beside DP-EBM (interpret), diffprivlib and scikit-learn's histogram boosting.

Income on UCI Adult as its publisher splits it: twelve columns, δ = 1e-5, one row added or removed, the size public.
Ours take their defaults, which were chosen on other splits of the training file; DP-EBM has the settings that were best
on a split of the same file (`python -m benchmarks.learning.trees` shows the search). AUC is a mean over seeds.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from typing import Any

from benchmarks.case import Case, Peer, Prepare, Work
from benchmarks.public_files import public_file

SEEDS = 20
DELTA = 1e-5
GOALS = {0.5: 0.902, 1.0: 0.907, 3.0: 0.910}
PLACES = {
    "age": 0,
    "education-num": 4,
    "capital-gain": 10,
    "capital-loss": 11,
    "hours-per-week": 12,
    "workclass": 1,
    "marital-status": 5,
    "occupation": 6,
    "relationship": 7,
    "race": 8,
    "sex": 9,
    "native-country": 13,
}
"""Where the columns that are used stand in a line of the file: numbers first, then categories."""

WIDTH_OF_FILE = 15
BOUNDS = {
    "age": (17, 90),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4_356),
    "hours-per-week": (1, 99),
}
CATEGORIES = tuple(name for name in PLACES if name not in BOUNDS)
BEST = {"learning_rate": 0.4, "max_rounds": 100, "max_bins": 32, "bin_budget_frac": 0.1}
TUNED = {0.5: BEST, 1.0: BEST, 3.0: BEST | {"max_rounds": 300}}
"""The settings of DP-EBM for each epsilon."""

SEARCH = [
    {"learning_rate": rate, "max_rounds": rounds, "max_bins": bins, "bin_budget_frac": share}
    for rate, rounds in (
        (0.01, 300),
        (0.05, 300),
        (0.1, 100),
        (0.1, 300),
        (0.2, 30),
        (0.2, 100),
        (0.2, 300),
        (0.4, 100),
    )
    for bins, share in ((32, 0.1), (32, 0.02), (64, 0.05))
]

ROWS, WIDTH, TREES = 1_000_000, 20, 100
SLOWEST = 0.5
"""Ours may take twice the time of scikit-learn's histogram boosting."""

Rows = tuple[list[list[Any]], list[int]]


def income(file: str) -> Rows:
    """Numbers first, then categories; and whether a person earns more than 50 000."""
    path = public_file(f"adult/{file}")
    with path.open(encoding="ascii") as lines:
        found = [[cell.strip() for cell in row] for row in csv.reader(lines) if len(row) == WIDTH_OF_FILE]
    cells = [[row[place] for place in PLACES.values()] for row in found]
    X = [[*map(float, row[: len(BOUNDS)]), *row[len(BOUNDS) :]] for row in cells]
    return X, [int(row[-1].startswith(">50K")) for row in found]


@cache
def categories() -> list[list[str]]:
    """The categories that the publisher lists, as they stand in both files."""
    rows = income("adult.data")[0] + income("adult.test")[0]
    return [sorted({row[len(BOUNDS) + i] for row in rows}) for i in range(len(CATEGORIES))]


# ---------------------------------------------------------------- ours


def our_model(name: str, epsilon: float, size: int, seed: int) -> Any:
    import bruit
    from bruit import learning

    numbers = [bruit.tables.within(*bounds, grid=1) for bounds in BOUNDS.values()]
    domain = [*numbers, *(bruit.tables.among(each) for each in categories())]
    book = bruit.Ledger(
        "census", epsilon=epsilon, delta=DELTA, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW
    )
    price = book.budget(epsilon=epsilon, delta=DELTA)
    return getattr(learning, name)(domain=domain, classes=[0, 1], size=size, budget=price, random_state=seed)


def ours(name: str, epsilon: float) -> Prepare:
    def fit(X: Any, y: Any, seed: int) -> Any:
        return our_model(name, epsilon, len(y), seed).fit(X, y)

    return lambda: lambda: mean_auc(fit, code=frame)


def frame(X: Any) -> Any:
    """The rows as a data frame, which keeps numbers and categories apart."""
    import polars

    return polars.DataFrame(X.tolist(), schema=list(PLACES), orient="row")


def our_fit(name: str, epsilon: float) -> Prepare:
    def prepare() -> Work:
        X, y = arrays("adult.data")
        rows = frame(X)
        return lambda: our_model(name, epsilon, len(y), 1).fit(rows, y)

    return prepare


# ---------------------------------------------------------------- peers


def ebm(epsilon: float, seed: int, **settings: Any) -> Any:
    from interpret.privacy import DPExplainableBoostingClassifier

    kinds = ["continuous"] * len(BOUNDS) + ["nominal"] * len(CATEGORIES)
    bounds = dict(enumerate(BOUNDS.values()))
    return DPExplainableBoostingClassifier(
        feature_types=kinds,
        privacy_bounds=bounds,
        n_jobs=1,
        epsilon=epsilon,
        delta=DELTA,
        random_state=seed,
        **settings,
    )


def their_ebm(epsilon: float, *, tuned: bool) -> Prepare:
    settings = TUNED[epsilon] if tuned else {}
    return lambda: lambda: mean_auc(lambda X, y, seed: ebm(epsilon, seed, **settings).fit(X, y))


def their_fit(epsilon: float) -> Prepare:
    def prepare() -> Work:
        X, y = arrays("adult.data")
        return lambda: ebm(epsilon, 1, **TUNED[epsilon]).fit(X, y)

    return prepare


def their_forest(epsilon: float) -> Prepare:
    """diffprivlib's forest on the same columns, categories as numbers."""

    def fit(X: Any, y: Any, seed: int) -> Any:
        from diffprivlib.models import RandomForestClassifier

        return RandomForestClassifier(epsilon=epsilon, bounds=coded_bounds(), classes=[0, 1], random_state=seed).fit(
            X, y
        )

    return lambda: lambda: mean_auc(fit, code=coded)


def their_logistic(epsilon: float) -> Prepare:
    """diffprivlib's logistic regression on one column for each category, numbers scaled by their bounds."""

    def fit(X: Any, y: Any, seed: int) -> Any:
        from diffprivlib.models import LogisticRegression

        norm = (len(BOUNDS) + len(CATEGORIES)) ** 0.5
        return LogisticRegression(epsilon=epsilon, data_norm=norm, random_state=seed, max_iter=200).fit(X, y)

    return lambda: lambda: mean_auc(fit, code=hot)


def coded_bounds() -> tuple[list[float], list[float]]:
    low, high = zip(*BOUNDS.values(), strict=True)
    return [*low, *(0.0 for _ in CATEGORIES)], [*high, *(len(each) - 1.0 for each in categories())]


def coded(X: Any) -> Any:
    import numpy as np

    places = [{name: i for i, name in enumerate(each)} for each in categories()]
    first = len(BOUNDS)
    names = [[place[row[first + i]] for i, place in enumerate(places)] for row in X]
    return np.hstack([np.asarray(X[:, :first], float), np.array(names, float)])


def hot(X: Any) -> Any:
    import numpy as np

    rows = coded(X)
    low, high = (np.array(each[: len(BOUNDS)], float) for each in coded_bounds())
    columns = [np.clip((rows[:, : len(BOUNDS)] - low) / (high - low), 0, 1)]
    for i, each in enumerate(categories()):
        columns.append((rows[:, len(BOUNDS) + i, None] == np.arange(len(each))).astype(float))
    return np.hstack(columns)


# ---------------------------------------------------------------- figures


def arrays(file: str) -> tuple[Any, Any]:
    import numpy as np

    X, y = income(file)
    return np.array(X, object), np.array(y)


def mean_auc(fit: Callable[[Any, Any, int], Any], *, code: Callable[[Any], Any] | None = None) -> float:
    """The mean over the seeds on the test file."""
    import numpy as np
    from sklearn.metrics import roc_auc_score

    X, y = arrays("adult.data")
    asked, truth = arrays("adult.test")
    if code is not None:
        X, asked = code(X), code(asked)
    found = [roc_auc_score(truth, fit(X, y, seed).predict_proba(asked)[:, 1]) for seed in range(SEEDS)]
    return float(np.mean(found))


# ---------------------------------------------------------------- the exact engine


def large() -> tuple[Any, Any]:
    import numpy as np

    rng = np.random.default_rng(1)
    X = rng.normal(size=(ROWS, WIDTH))
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + (X[:, 4] > 0.5)
    return X, (score + rng.logistic(size=ROWS) > 0).astype(int)


def boosting() -> Work:
    import bruit

    X, y = large()
    small = bruit.learning.BoostedTrees(n_estimators=2, budget=bruit.WITHOUT_PRIVACY)
    small.fit(X[:5000], y[:5000])
    return lambda: bruit.learning.BoostedTrees(n_estimators=TREES, budget=bruit.WITHOUT_PRIVACY).fit(X, y)


def their_boosting() -> Work:
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = large()
    return lambda: HistGradientBoostingClassifier(max_iter=TREES, early_stopping=False).fit(X, y)


def accuracy(ours_: bool) -> Prepare:
    """The accuracy on a fifth of the rows."""

    def figure() -> float:
        X, y = large()
        X, y = X[:100_000], y[:100_000]
        if ours_:
            import bruit

            model: Any = bruit.learning.BoostedTrees(budget=bruit.WITHOUT_PRIVACY)
        else:
            from sklearn.ensemble import HistGradientBoostingClassifier

            model = HistGradientBoostingClassifier(early_stopping=False)
        return float(model.fit(X[:80_000], y[:80_000]).score(X[80_000:], y[80_000:]))

    return lambda: figure


def income_cases(epsilon: float) -> list[Case]:
    peers = (
        Peer("DP-EBM, tuned", their_ebm(epsilon, tuned=True), times=1.0),
        Peer("DP-EBM, defaults", their_ebm(epsilon, tuned=False), times=1.0),
        Peer("diffprivlib forest", their_forest(epsilon), times=1.0),
        Peer("diffprivlib logistic regression", their_logistic(epsilon), times=1.0),
    )
    how: dict[str, Any] = {"returned": True, "calls": 1, "rounds": 1}
    return [
        Case(
            f"AdditiveModel, Adult income, ε={epsilon:g}",
            "AUC",
            "higher",
            ours("AdditiveModel", epsilon),
            peers,
            goal=GOALS[epsilon],
            **how,
        ),
        *(
            Case(f"{name}, Adult income, ε={epsilon:g}", "AUC", "higher", ours(name, epsilon), **how)
            for name in ("BoostedTrees", "Forest", "DecisionTree")
        ),
        Case(
            f"AdditiveModel, fit on Adult, ε={epsilon:g}",
            "s",
            "lower",
            our_fit("AdditiveModel", epsilon),
            (Peer("DP-EBM, tuned", their_fit(epsilon), times=1.0),),
        ),
    ]


CASES = [
    *(case for epsilon in GOALS for case in income_cases(epsilon)),
    Case(
        f"BoostedTrees without privacy, {ROWS:,} × {WIDTH}, {TREES} trees",
        "s",
        "lower",
        boosting,
        (Peer("HistGradientBoosting", their_boosting, times=SLOWEST, here=True),),
        calls=1,
        rounds=3,
    ),
    Case(
        "BoostedTrees without privacy, held-out",
        "accuracy",
        "higher",
        accuracy(True),
        (Peer("HistGradientBoosting", accuracy(False), times=0.995, here=True),),
        returned=True,
        calls=1,
        rounds=1,
    ),
]


def search() -> None:
    """The settings of DP-EBM on a split of the training file; runs in the peers' environment."""
    import numpy as np
    from sklearn.metrics import roc_auc_score

    X, y = arrays("adult.data")
    held = np.random.default_rng(0).permutation(len(y)) % 5 == 0
    for epsilon in GOALS:
        for settings in SEARCH:
            found = [
                roc_auc_score(
                    y[held], ebm(epsilon, seed, **settings).fit(X[~held], y[~held]).predict_proba(X[held])[:, 1]
                )
                for seed in range(3)
            ]
            print(epsilon, settings, round(float(np.mean(found)), 4), flush=True)


if __name__ == "__main__":
    search()
