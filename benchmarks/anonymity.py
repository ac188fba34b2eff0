"""What a table gives away, coarser tables and scans, beside pycanon and anjana."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from benchmarks.case import Case, Peer, Prepare, Work
from benchmarks.public_files import public_file

COLUMNS = (  # noqa: SIM905  one word a column
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
    "capital-loss hours-per-week native-country income"
).split()
QUASI = ["age", "education", "marital-status", "race", "sex", "native-country"]
WIDTHS = (5, 10, 20, 40)
SCHOOL = {"Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"}
COLLEGE = {"HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm"}
KS = (2, 5, 10, 50)
SUPPRESS = 0.05
MANY = 10_000_000
VALUES = 2_000_000
MIB = 2**20
GOAL_MIB = 1536


def parents() -> dict[str, dict[str, list[str]]]:
    """The names above each value, from the finest to the coarsest, without the last, `*`."""
    return {
        "education": {
            name: ["school" if name in SCHOOL else "college" if name in COLLEGE else "degree"]
            for name in [*SCHOOL, *COLLEGE, "Bachelors", "Masters", "Prof-school", "Doctorate"]
        },
        "marital-status": {
            "Married-civ-spouse": ["married"],
            "Married-AF-spouse": ["married"],
            "Married-spouse-absent": ["apart"],
            "Separated": ["apart"],
            "Divorced": ["apart"],
            "Widowed": ["apart"],
            "Never-married": ["single"],
        },
    }


def once(work: Callable[[], object]) -> Work:
    """The seconds of the first call, told again by later ones: for peers that take most of a minute."""
    told: list[float] = []

    def timed() -> float:
        if not told:
            began = perf_counter()
            work()
            told.append(perf_counter() - began)
        return told[0]

    return timed


def seconds(work: Callable[[], object]) -> Work:
    """The seconds of each call."""

    def timed() -> float:
        began = perf_counter()
        work()
        return perf_counter() - began

    return timed


def texts() -> Any:
    import polars

    from bruit.apps.data import adult

    return adult().select(polars.all().cast(polars.String))


def adult_risk() -> Work:
    import numpy as np

    from bruit.anonymity import risk

    table, rng = texts(), np.random.default_rng(1)
    return seconds(lambda: risk(table, QUASI, "income", rng=rng))


def pandas_adult() -> Any:
    import pandas

    path = public_file("adult/adult.data")
    return pandas.read_csv(path, names=COLUMNS, skipinitialspace=True, keep_default_na=False)


def pycanon_risk() -> Work:
    from pycanon import anonymity

    table = pandas_adult()

    def work() -> None:
        anonymity.k_anonymity(table, QUASI)
        anonymity.l_diversity(table, QUASI, ["income"])
        anonymity.entropy_l_diversity(table, QUASI, ["income"])
        anonymity.t_closeness(table, QUASI, ["income"])

    return once(work)


def many_people(columns: list[str]) -> Any:
    """Ten million rows whose columns are drawn from Adult's, each on its own."""
    import numpy as np
    import polars

    from bruit.apps.data import adult

    rng, table = np.random.default_rng(1), adult()
    return polars.DataFrame(
        {
            name: table[name].cast(polars.String).cast(polars.Categorical).gather(rng.integers(0, table.height, MANY))
            for name in columns
        }
    )


def many_risk() -> Work:
    import numpy as np

    from bruit.anonymity import risk

    table, rng = many_people([*QUASI, "income"]), np.random.default_rng(1)
    risk(table.head(1000), QUASI, "income", rng=rng)
    return seconds(lambda: risk(table, QUASI, "income", rng=rng))


def many_risk_memory() -> Work:
    """The peak of the whole process, the table included."""
    import resource

    work = many_risk()

    def peak() -> float:
        work()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB

    return peak


def hierarchies() -> Any:
    from bruit.anonymity import intervals, tree

    given: dict[str, Any] = dict.fromkeys(QUASI)
    return {**given, "age": intervals(*WIDTHS), **{name: tree(above) for name, above in parents().items()}}


def lattice() -> Work:
    """The proved optimum for four k."""
    from bruit.anonymity import generalise

    table, levels = texts(), hierarchies()
    return seconds(lambda: [generalise(table, levels, k=k, suppress=SUPPRESS) for k in KS])


def lattice_loss(k: int) -> Prepare:
    def prepare() -> Work:
        from bruit.anonymity import generalise

        table, levels = texts(), hierarchies()
        return lambda: round(generalise(table, levels, k=k, suppress=SUPPRESS).loss, 9)

    return prepare


def mondrian_loss(k: int) -> Prepare:
    def prepare() -> Work:
        from bruit.anonymity import generalise

        table = texts()
        return lambda: generalise(table, QUASI, k=k, method="mondrian").loss

    return prepare


def written_levels(table: Any) -> dict[str, dict[int, list[str]]]:
    """The same hierarchies as tables of levels, as anjana wants them."""
    above, found = parents(), {}
    for name in QUASI:
        values = sorted(set(table[name]))
        levels = [values]
        if name == "age":
            levels += [[f"[{int(v) // w * w}, {int(v) // w * w + w})" for v in values] for w in WIDTHS]
        elif name in above:
            levels.append([above[name][value][0] for value in values])
        found[name] = dict(enumerate([*levels, ["*"] * len(values)]))
    return found


def anjana_loss(k: int) -> Prepare:
    """The mean over rows and columns of (values under one name - 1) / (values - 1), a suppressed row counting 1."""

    def prepare() -> Work:
        from anjana.anonymity import k_anonymity

        table = pandas_adult()[QUASI].astype(str)
        levels = written_levels(table)
        told: list[float] = []

        def work() -> float:
            if not told:
                coarse = k_anonymity(table, [], QUASI, k, 100 * SUPPRESS, levels)
                told.append(loss_of(coarse, levels, len(table)))
            return told[0]

        return work

    return prepare


def loss_of(coarse: Any, levels: dict[str, dict[int, list[str]]], rows: int) -> float:
    total = float((rows - len(coarse)) * len(QUASI))
    for name in QUASI:
        values = len(levels[name][0])
        under = {label: column.count(label) for column in map(list, levels[name].values()) for label in column}
        total += sum((under[label] - 1) / (values - 1) for label in coarse[name])
    return round(total / (rows * len(QUASI)), 9)


def mondrian() -> Work:
    """Ten million rows, nearly all different."""
    import numpy as np

    from bruit.anonymity.coded import encode_column
    from bruit.anonymity.generalisation.mondrian import boxes

    table = many_people(["age", "education", "hours-per-week", "occupation", "native-country", "fnlwgt"])
    columns = [encode_column(series).ordered() for series in table.iter_columns()]
    few = [type(column)(column.name, column.codes[:1000], column.labels) for column in columns]
    boxes(few, None, k=10)
    assert isinstance(columns[0].codes, np.ndarray)
    return seconds(lambda: boxes(columns, None, k=10))


def scanned(kind: str) -> Prepare:
    """One column of two million values, from the series to what it holds."""

    def prepare() -> Work:
        import numpy as np
        import polars

        from bruit.anonymity.coded import encode_column
        from bruit.anonymity.disclosure.identifier_scan import identify
        from bruit.codes import Nir

        rng = np.random.default_rng(1)
        digits = rng.integers(48, 58, (VALUES, 13), dtype=np.uint8)
        digits[:, 0] = 49
        texts = polars.Series("x", digits.view("S13").ravel().astype(str))
        words = polars.Series("x", ["north", "south", "east", "west"]).gather(rng.integers(0, 4, VALUES))
        column = {"NIR": Nir().complete(texts), "category": words, "random digits": texts}[kind]
        identify(encode_column(column.head(5000)), limit=1e-9)

        def work() -> float:
            began = perf_counter()
            identify(encode_column(column), limit=1e-9)
            return VALUES / (perf_counter() - began)

        return work

    return prepare


def hadamard() -> Work:
    import numpy as np

    from bruit.anonymity import HadamardQueries, reconstruct

    size, rng = 2**20, np.random.default_rng(1)
    queries = HadamardQueries(size)
    answers = queries.answers(rng.integers(0, 2, size)) + rng.uniform(-256, 256, size)
    return seconds(lambda: reconstruct(queries, answers))


def timed(name: str, ours: Prepare, goal: float, **more: Any) -> Case:
    return Case(name, "s", "lower", ours, goal=goal, returned=True, **more)


CASES = [
    timed(
        "Adult k, l, t from strings",
        adult_risk,
        0.02,
        peers=(Peer("pycanon", pycanon_risk, times=100),),
        rounds=3,
    ),
    timed("10M rows k, l, t", many_risk, 3, calls=1, rounds=3),
    Case("10M rows k, l, t, memory", "MiB", "lower", many_risk_memory, goal=GOAL_MIB, returned=True, calls=1, rounds=1),
    timed("lattice optimum, four k", lattice, 4),
    *(
        Case(
            f"lattice loss k={k}",
            "loss",
            "lower",
            lattice_loss(k),
            (Peer("anjana", anjana_loss(k), times=1),),
            returned=True,
            rounds=1,
        )
        for k in KS
    ),
    Case("Mondrian loss k=10", "loss", "lower", mondrian_loss(10), goal=0.06, returned=True, rounds=1),
    timed("Mondrian 10M rows", mondrian, 10, calls=1, rounds=2),
    *(
        Case(f"scan {kind}", "values/s", "higher", scanned(kind), goal=2e6, returned=True)
        for kind in ("NIR", "category", "random digits")
    ),
    timed("Hadamard reconstruction of 2^20 bits", hadamard, 0.5),
]
