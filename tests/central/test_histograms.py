import numpy as np
import polars as pl
import pytest

import bruit
from bruit import central
from bruit.core import Neighbours
from bruit.errors import InvalidArgument
from bruit.tables import Table


def test_cells_and_labels_stand_in_the_same_order(ledger: bruit.Ledger, table: Table) -> None:
    city, x = table["city"].among(["Paris", "Lyon"]), table["x"].within(0, 10, grid=5)
    release = central.histogram(city, x, budget=ledger.budget(epsilon=1000), rng=np.random.default_rng(0))
    assert release.value.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert release.labels[:4] == ("Paris / 0", "Paris / 5", "Paris / 10", "Lyon / 0")
    assert release.labels[-1] == "OTHER / 10"
    assert release.frame().height == 9


def test_sensitivity_doubles_when_a_person_is_exchanged(neighbours: Neighbours) -> None:
    """Noise of three rows in each of two of ten cells: twelve rows where two people meet nowhere."""
    frame = pl.DataFrame({"id": [1], "x": [1.0]})
    column = bruit.tables.read(frame, person="id").limit(groups=2, each=3)["x"].within(0, 9, grid=1)
    book = bruit.Ledger("people", epsilon=10, neighbours=neighbours, person="id")
    loss = central.histogram_mechanism(column, price=book.budget(epsilon=1)).loss
    assert loss.sensitivity == (6 if neighbours == bruit.ADD_OR_REMOVE_ONE else 12)  # type: ignore[attr-defined]


def test_a_delta_buys_the_narrower_noise_for_many_cells() -> None:
    """64 cells of a person at (1, 1e-6): Laplace noise would be ± 192."""
    frame = pl.DataFrame({"id": [1], "x": [1.0]})
    column = bruit.tables.read(frame, person="id").limit(groups=64, each=1)["x"].within(0, 999, grid=1)
    book = bruit.Ledger("people", epsilon=10, delta=1e-5, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id")
    wide = central.histogram(column, budget=book.budget(epsilon=1))
    narrow = central.histogram(column, budget=book.budget(epsilon=1, delta=1e-6))
    assert wide.noise == 192
    assert narrow.method == "DiscreteGaussian"
    assert narrow.noise <= 71


def test_every_cell_gets_its_own_noise_the_empty_ones_too(ledger: bruit.Ledger) -> None:
    empty = pl.DataFrame({"x": pl.Series([], dtype=pl.Float64)})
    column = bruit.tables.read(empty, person=bruit.EACH_ROW)["x"].within(0, 999, grid=1)
    noisy = central.histogram(column, budget=ledger.budget(epsilon="0.1"), rng=np.random.default_rng(2)).value
    assert len(np.unique(noisy)) > 20
    assert (noisy == 0).mean() < 0.2


def test_a_histogram_of_nothing_or_of_too_many_cells_is_refused(ledger: bruit.Ledger, table: Table) -> None:
    with pytest.raises(InvalidArgument, match="at least one column"):
        central.histogram(budget=ledger.budget(epsilon=1))
    fine = table["x"].within(0, 10**6, grid=1)
    with pytest.raises(InvalidArgument, match="too many"):
        central.histogram(fine, fine, budget=ledger.budget(epsilon=1))
    assert not ledger.entries


def test_every_cell_has_a_label_of_its_own(ledger: bruit.Ledger) -> None:
    table = bruit.tables.read(pl.DataFrame({"x": [1.0]}), person=bruit.EACH_ROW)
    large = central.histogram(table["x"].within(1_000_000, 1_000_100, grid=1), budget=ledger.budget(epsilon=1))
    assert large.labels[1] == "1000001"
    assert len(set(large.labels)) == 101
    tenths = central.histogram(table["x"].within(-1, 1, grid="0.1"), budget=ledger.budget(epsilon=1))
    assert tenths.labels[13] == "0.3"
    assert tenths.labels[10] == "0"
