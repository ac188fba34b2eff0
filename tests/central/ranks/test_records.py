from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import bruit
from bruit import central
from bruit.errors import InvalidArgument


@pytest.mark.parametrize("ask", [central.quantiles, central.inverse_sensitivity], ids=lambda ask: ask.__name__)
def test_rule_5_the_size_of_a_cell_is_never_public(ask: Callable[..., Any]) -> None:
    ledger = bruit.Ledger("rows", epsilon=10, neighbours=bruit.REPLACE_ONE, person=bruit.EACH_ROW)
    table = bruit.tables.read(pl.DataFrame({"x": [1.0, 2.0, 3.0]}), person=bruit.EACH_ROW)
    column = table["x"].within(0, 4, grid=1, missing=0)
    rest = ([0.5],) if ask is central.quantiles else (sum, [0, 3])
    extra = {} if ask is central.quantiles else {"reach": 1}
    cell = ledger.partition("region").budget("north", epsilon=1)
    with pytest.raises(InvalidArgument, match="can leave the cell"):
        ask(column, *rest, budget=cell, public_size=True, **extra)
    assert ask(column, *rest, budget=cell, **extra).guarantee.assumes == ()
    whole = ask(column, *rest, budget=ledger.budget(epsilon=1), public_size=True, **extra)
    assert whole.guarantee.assumes == (bruit.privacy.Assumption.PUBLIC_SIZE,)
