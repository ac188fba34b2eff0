"""Private models beside diffprivlib's, on the data, bounds and epsilons of its own examples.

Linear regression on two columns of diabetes, naive Bayes on iris and on five columns of UCI Adult, logistic regression
on the same five, each at a pure epsilon; k-means and components, of which it has no example, on iris and Adult. Figures
are errors, the mean or median over seeds that both sides share: lower is better. The size is public on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case, Peer, Prepare
from benchmarks.public_files import public_file

LINEAR = (0.1, 1.0, 10.0, 100.0)
LOGISTIC = (0.001, 0.01, 0.1, 1.0, 10.0)
BAYES = (0.01, 0.1, 1.0, 10.0, 100.0)
ADULT_BAYES = (0.1, 1.0)
SHAPES = (0.1, 1.0, 10.0)
SPLITS, FITS, SHAPE_FITS = 100, 10, 20

IRIS = ((4.3, 2.0, 1.0, 0.1), (7.9, 4.4, 6.9, 2.5))
ADULT = ((17, 1, 0, 0, 1), (100, 16, 100_000, 4_500, 100))
ADULT_TIGHT = ((17, 1, 0, 0, 1), (90, 16, 10_000, 4_356, 99))
"""The bounds of the pipeline example; education has sixteen numbers."""

DIABETES, PROGRESSION = (-0.138, 0.2), (25, 346)
Figure = Callable[[], float]


def adult() -> tuple[Any, Any, Any, Any]:
    """Five columns of numbers and who earns more than 50 000: to train, then to test."""
    import numpy as np

    found: list[Any] = []
    for name, skipped in (("adult.data", 0), ("adult.test", 1)):
        given: dict[str, Any] = {"delimiter": ",", "skip_header": skipped, "autostrip": True}
        found.append(np.genfromtxt(public_file(f"adult/{name}"), usecols=(0, 4, 10, 11, 12), **given))
        labels: Any = np.genfromtxt(public_file(f"adult/{name}"), usecols=14, dtype=np.str_, **given)  # type: ignore[call-overload]
        found.append(np.char.startswith(labels, ">"))
    return found[0], found[1], found[2], found[3]


def budget(epsilon: float, *, exchange: bool = False) -> Any:
    import bruit

    neighbours = bruit.REPLACE_ONE if exchange else bruit.ADD_OR_REMOVE_ONE
    book = bruit.Ledger("benchmark", epsilon=epsilon, neighbours=neighbours, person=bruit.EACH_ROW)
    return book.budget(epsilon=epsilon)


def bounds(ends: tuple[Any, Any], grid: str) -> list[Any]:
    from bruit.tables import within

    return [within(str(low), str(high), grid=grid) for low, high in zip(*ends, strict=True)]


def splits(data: Any, target: Any, error: Callable[..., float], combine: str) -> Figure:
    """The mean or median error over the same splits of a table on both sides."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    def figure() -> float:
        found = []
        for seed in range(SPLITS):
            train, test, y_train, y_test = train_test_split(data, target, test_size=0.2, random_state=seed)
            found.append(error(train, y_train, test, y_test))
        return float(getattr(np, combine)(found))

    return figure


# ---------------------------------------------------------------- linear regression


def linear(epsilon: float) -> Prepare:
    def prepare() -> Figure:
        from sklearn.datasets import load_diabetes

        from bruit.learning import LinearRegression
        from bruit.tables import within

        data, target = load_diabetes(return_X_y=True)
        stated: dict[str, Any] = {
            "domain": within(*map(str, DIABETES), grid="0.001"),
            "target": within(*PROGRESSION, grid=1),
        }

        def error(train: Any, y: Any, test: Any, y_test: Any) -> float:
            model = LinearRegression(**stated, size=len(y), budget=budget(epsilon)).fit(train, y)
            return 1 - float(model.score(test, y_test))

        return splits(data[:, :2], target, error, "median")

    return prepare


def their_linear(epsilon: float) -> Prepare:
    def prepare() -> Figure:
        import warnings

        from diffprivlib.models import LinearRegression
        from sklearn.datasets import load_diabetes

        warnings.filterwarnings("ignore")
        data, target = load_diabetes(return_X_y=True)

        def error(train: Any, y: Any, test: Any, y_test: Any) -> float:
            model = LinearRegression(epsilon=epsilon, bounds_X=DIABETES, bounds_y=PROGRESSION).fit(train, y)
            return 1 - float(model.score(test, y_test))

        return splits(data[:, :2], target, error, "median")

    return prepare


# ---------------------------------------------------------------- classifiers


def on_adult(fitted: Callable[[Any, Any], Any]) -> Figure:
    """The mean share of wrong answers on the test file."""
    train, y, test, y_test = adult()
    return lambda: sum(1 - float(fitted(train, y).score(test, y_test)) for _ in range(FITS)) / FITS


def logistic(epsilon: float) -> Prepare:
    def prepare() -> Figure:
        from bruit.learning import LogisticRegression

        stated: dict[str, Any] = {"domain": bounds(ADULT_TIGHT, "1"), "classes": [False, True]}
        return on_adult(lambda X, y: LogisticRegression(**stated, budget=budget(epsilon, exchange=True)).fit(X, y))

    return prepare


def their_logistic(epsilon: float) -> Prepare:
    def prepare() -> Figure:
        import warnings

        from diffprivlib.models import LogisticRegression

        warnings.filterwarnings("ignore")
        return on_adult(lambda X, y: LogisticRegression(epsilon=epsilon, data_norm=2, C=1 / len(X)).fit(X, y))

    return prepare


def bayes(epsilon: float, table: str) -> Prepare:
    def prepare() -> Figure:
        from sklearn.datasets import load_iris

        from bruit.learning import NaiveBayes

        if table == "Adult":
            stated: dict[str, Any] = {"domain": bounds(ADULT, "1"), "classes": [False, True]}
            return on_adult(lambda X, y: NaiveBayes(**stated, size=len(X), budget=budget(epsilon)).fit(X, y))
        given: dict[str, Any] = {"domain": bounds(IRIS, "0.1"), "classes": [0, 1, 2]}

        def error(train: Any, y: Any, test: Any, y_test: Any) -> float:
            model = NaiveBayes(**given, size=len(y), budget=budget(epsilon)).fit(train, y)
            return 1 - float(model.score(test, y_test))

        data, labels = load_iris(return_X_y=True)
        return splits(data, labels, error, "mean")

    return prepare


def their_bayes(epsilon: float, table: str) -> Prepare:
    def prepare() -> Figure:
        import warnings

        from diffprivlib.models import GaussianNB
        from sklearn.datasets import load_iris

        warnings.filterwarnings("ignore")
        if table == "Adult":
            return on_adult(lambda X, y: GaussianNB(epsilon=epsilon, bounds=ADULT).fit(X, y))

        def error(train: Any, y: Any, test: Any, y_test: Any) -> float:
            return 1 - float(GaussianNB(epsilon=epsilon, bounds=IRIS).fit(train, y).score(test, y_test))

        data, labels = load_iris(return_X_y=True)
        return splits(data, labels, error, "mean")

    return prepare


# ---------------------------------------------------------------- clusters and components


def scaled(table: str) -> Any:
    """The columns between -1 and 1."""
    import numpy as np
    from sklearn.datasets import load_iris

    data, ends = (adult()[0], ADULT) if table == "Adult" else (load_iris().data, IRIS)
    low, high = np.array(ends[0], float), np.array(ends[1], float)
    return np.clip(2 * (data - low) / (high - low) - 1, -1, 1)


def excess(table: str, centres: Callable[[Any, int], Any]) -> Figure:
    """The mean sum of squared distances from the nearest centre, in that of k-means without privacy."""
    from sklearn.cluster import KMeans

    data, clusters = scaled(table), 4 if table == "Adult" else 3
    least = KMeans(clusters, n_init=5, random_state=0).fit(data).inertia_

    def once() -> float:
        found = centres(data, clusters)
        return float(((data[:, None] - found) ** 2).sum(axis=2).min(axis=1).sum() / least)

    return lambda: sum(once() for _ in range(SHAPE_FITS)) / SHAPE_FITS


def missed(table: str, components: Callable[[Any], Any]) -> Figure:
    """The mean share of the best two components' variance that the two found ones miss."""
    import numpy as np

    data = scaled(table)
    covariance = np.cov(data.T)
    best = np.linalg.eigvalsh(covariance)[-2:].sum()

    def once() -> float:
        found = components(data)
        return 1 - float(np.trace(found @ covariance @ found.T) / best)

    return lambda: sum(once() for _ in range(SHAPE_FITS)) / SHAPE_FITS


def clusters(epsilon: float, table: str) -> Prepare:
    def prepare() -> Figure:
        from bruit.learning import KMeans
        from bruit.tables import within

        unit = within(-1, 1, grid="0.0001")

        def centres(data: Any, count: int) -> Any:
            return KMeans(count, domain=unit, size=len(data), budget=budget(epsilon)).fit(data).cluster_centers_

        return excess(table, centres)

    return prepare


def their_clusters(epsilon: float, table: str) -> Prepare:
    def prepare() -> Figure:
        import warnings

        from diffprivlib.models import KMeans

        warnings.filterwarnings("ignore")
        return excess(table, lambda data, k: KMeans(k, epsilon=epsilon, bounds=(-1, 1)).fit(data).cluster_centers_)

    return prepare


def directions(epsilon: float, table: str) -> Prepare:
    def prepare() -> Figure:
        from bruit.learning import PCA
        from bruit.tables import within

        unit = within(-1, 1, grid="0.0001")
        return missed(
            table, lambda data: PCA(2, domain=unit, size=len(data), budget=budget(epsilon)).fit(data).components_
        )

    return prepare


def their_directions(epsilon: float, table: str) -> Prepare:
    def prepare() -> Figure:
        import warnings

        from diffprivlib.models import PCA

        warnings.filterwarnings("ignore")
        return missed(
            table,
            lambda data: PCA(2, epsilon=epsilon, bounds=(-1, 1), data_norm=data.shape[1] ** 0.5).fit(data).components_,
        )

    return prepare


# ---------------------------------------------------------------- the cases


def beside(name: str, unit: str, ours: Prepare, theirs: Prepare) -> Case:
    peer = Peer("diffprivlib", theirs, times=1.0)
    return Case(name, unit, "lower", ours, (peer,), returned=True, calls=1, rounds=3)


def every(title: str, unit: str, ours: Any, theirs: Any, table: str, epsilons: tuple[float, ...]) -> list[Case]:
    return [beside(f"{title}, {table}, ε={e:g}", unit, ours(e, table), theirs(e, table)) for e in epsilons]


CASES = [
    *(beside(f"linear regression, diabetes, ε={e:g}", "1 - R²", linear(e), their_linear(e)) for e in LINEAR),
    *(beside(f"logistic regression, Adult, ε={e:g}", "errors", logistic(e), their_logistic(e)) for e in LOGISTIC),
    *every("naive Bayes", "errors", bayes, their_bayes, "iris", BAYES),
    *every("naive Bayes", "errors", bayes, their_bayes, "Adult", ADULT_BAYES),
    *(case for t in ("iris", "Adult") for case in every("k-means", "inertia", clusters, their_clusters, t, SHAPES)),
    *(
        case
        for t in ("iris", "Adult")
        for case in every("components", "missed", directions, their_directions, t, SHAPES)
    ),
]
