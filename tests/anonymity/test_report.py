"""One report: what it assumes, what it advises, what the private way out costs."""

import numpy as np
import polars
import pytest

from bruit.anonymity import private_marginals, report
from bruit.central import expected_error
from bruit.codes import Nir
from bruit.errors import InvalidArgument
from bruit.privacy import ADD_OR_REMOVE_ONE

RNG = np.random.default_rng(4)
ROWS = 500
PEOPLE = polars.DataFrame(
    {
        "nir": Nir().complete(["1" + "".join(map(str, row)) for row in RNG.integers(0, 10, (ROWS, 12))]),
        "age": RNG.integers(18, 90, ROWS),
        "town": RNG.integers(0, 90, ROWS),
        "illness": RNG.choice(["flu", "none"], ROWS),
    }
)


def test_the_sharpest_columns_are_assumed_where_none_are_named() -> None:
    found = report(PEOPLE, sensitive=["illness"])
    assert set(found.risk.quasi) == {"age", "town"}
    assert not found.quasi_were_given
    assert found.scan.direct == ("nir",)
    assert any("Remove nir" in line for line in found.advice)
    assert any("illness is certain" in line for line in found.advice)


def test_the_private_way_out_is_priced_by_central() -> None:
    found = report(PEOPLE, quasi=["age"], sensitive=["illness"], epsilon=2)
    assert [one.column for one in found.marginals] == ["age", "illness"]
    assert sum(one.epsilon for one in found.marginals) == pytest.approx(2)
    wanted = expected_error("histogram", epsilon=1, neighbours=ADD_OR_REMOVE_ONE)
    assert {one.error for one in found.marginals} == {wanted}


def test_columns_without_a_marginal_cost_nothing() -> None:
    assert private_marginals(PEOPLE, ["nir"], epsilon=1, neighbours=ADD_OR_REMOVE_ONE) == ()


def test_a_harmless_table_gets_no_alarm_and_no_promise() -> None:
    found = report(polars.DataFrame({"sex": ["m", "f"] * 50}), epsilon=1)
    assert "could be released instead" in found.advice[0]
    assert "no guarantee" in report(polars.DataFrame({"x": [1] * 50})).advice[0]


def test_a_table_of_identifiers_alone_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="quasi="):
        report(PEOPLE.select("nir"))
