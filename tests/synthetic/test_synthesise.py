"""The door: pays before reading, keeps what is public, and gives rows that follow the table's patterns."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from synthetic_people import COLUMNS, people

import bruit
from bruit.core import Neighbours
from bruit.errors import BudgetMissing, InvalidArgument, NeighboursDiffer, NotPrivate, PrivacyError, StorageError
from bruit.privacy import Assumption, ZeroConcentrated
from bruit.synthetic import SyntheticTable, synthesise
from bruit.tables import Table, among, read, within


@pytest.mark.parametrize("by", ["basic", "zcdp"])
@pytest.mark.parametrize("mode", ["adaptive", "tree"])
@pytest.mark.parametrize("neighbours", [bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE])
def test_the_price_is_paid_and_no_more(
    table: Table, budget: Callable[..., bruit.Budget], by: str, mode: str, neighbours: Neighbours
) -> None:
    price = budget(2, neighbours=neighbours, by=by)
    release = synthesise(table, COLUMNS, budget=price, mode=mode, rng=np.random.default_rng(0))
    assert 0.97 < price.ledger.spent.epsilon / 2 <= 1
    assert release.guarantee.assumes == (Assumption.SEEDED,)
    assert price.ledger.entries[0].release is not None
    assert abs(len(release.value.rows) - 4000) < 100
    assert release.value.frame().columns == list(COLUMNS)


def test_rows_follow_single_columns_and_pairs(table: Table, budget: Callable[..., bruit.Budget]) -> None:
    edges = {"age": [15, 30, 45, 60, 75], "income": [200, 400, 600, 800]}
    made = synthesise(table, COLUMNS, budget=budget(10), edges=edges, rng=np.random.default_rng(1))
    found = made.value.frame()
    truth = people(4000)
    minors = pl.col("age") < 15
    assert found.filter(minors, pl.col("licence") == "yes").height < 0.1 * found.filter(minors).height
    for frame in (found, truth):
        assert frame["income"].is_nan().sum() + frame["income"].null_count() == pytest.approx(400, abs=80)
    assert found["age"].mean() == pytest.approx(truth["age"].mean(), abs=2)
    slope = [np.corrcoef(f["age"], f["income"].fill_null(250).fill_nan(250))[0, 1] for f in (found, truth)]
    assert slope[0] == pytest.approx(slope[1], abs=0.12)


@pytest.mark.parametrize("mode", ["adaptive", "tree"])
def test_the_noise_of_values_that_nobody_has_does_not_make_them_common(
    budget: Callable[..., bruit.Budget], mode: str
) -> None:
    rows = pl.DataFrame({"days": [3, 3, 3, 7] * 1000, "sex": ["f", "m"] * 2000})
    columns, others = {"days": within(0, 41, grid=1, missing=0), "sex": among(["f", "m"])}, []
    for seed in range(3):
        asked: dict[str, Any] = {
            "edges": {"days": list(range(1, 42))},
            "mode": mode,
            "rng": np.random.default_rng(seed),
        }
        made = synthesise(read(rows, person=bruit.EACH_ROW), columns, budget=budget(0.1), **asked)
        others.append((~made.value.frame()["days"].is_in([3, 7])).mean())
    assert np.mean(others) < 0.13  # the noise of each of the 40 values is a 60th of the people


@pytest.mark.parametrize("names", [["ward", "days"], ["ward", "days", "age"]])
def test_rows_of_few_columns_agree_with_what_was_counted(budget: Callable[..., bruit.Budget], names: list[str]) -> None:
    rng, people_ = np.random.default_rng(5), 20_000
    rows = {"ward": rng.choice(["heart", "bones"], people_), "days": rng.geometric(0.3, people_).clip(1, 20)}
    table = pl.DataFrame({**rows, "age": rng.integers(0, 10, people_)}).select(names)
    columns: dict[str, Any] = {
        "ward": among(["heart", "bones", "birth", "lungs"]),
        "days": within(1, 20, grid=1, missing=1),
        "age": within(0, 9, grid=1, missing=0),
    }
    asked = {name: columns[name] for name in names}
    made = synthesise(read(table, person=bruit.EACH_ROW), asked, budget=budget(4), rng=np.random.default_rng(6)).value
    for name in names:
        true, found = (dict(frame[name].value_counts().iter_rows()) for frame in (table, made.frame()))
        apart = sum(abs(true.get(value, 0) - found.get(value, 0)) for value in true | found)
        assert apart < 0.004 * people_


def test_what_is_publicly_impossible_does_not_occur(table: Table, budget: Callable[..., bruit.Budget]) -> None:
    impossible = [{"age": (0, 15), "licence": "yes"}]
    for mode in ("adaptive", "tree"):
        made = synthesise(
            table, COLUMNS, budget=budget(1), mode=mode, impossible=impossible, edges={"age": [16, 40, 70]}
        )
        assert made.value.frame().filter(pl.col("age") < 16, pl.col("licence") == "yes").height == 0


def test_a_public_size_is_kept_and_said(table: Table, budget: Callable[..., bruit.Budget]) -> None:
    made = synthesise(table, COLUMNS, budget=budget(1), size=1234, mode="tree")
    assert len(made.value.rows) == 1234
    assert Assumption.PUBLIC_SIZE in made.guarantee.assumes


def test_several_rows_a_person_need_more_noise_and_are_bounded(budget: Callable[..., bruit.Budget]) -> None:
    frame = pl.concat([people(600), people(600, 1), people(600, 2)])
    three = synthesise(
        read(frame, person="id").limit(rows=2), COLUMNS, budget=budget(2, person="id"), rng=np.random.default_rng(0)
    ).value
    each = synthesise(read(frame, person=bruit.EACH_ROW), COLUMNS, budget=budget(2), rng=np.random.default_rng(0)).value
    assert three.fit.measured[0].variance > 3 * each.fit.measured[0].variance
    assert three.fit.people == pytest.approx(1200, abs=150)
    assert each.fit.people == pytest.approx(1800, abs=150)


def test_a_number_of_rows_that_is_noise_alone_is_refused_before_the_charge(budget: Callable[..., bruit.Budget]) -> None:
    table, price = read(people(50), person=bruit.EACH_ROW), budget(1).ledger.budget(epsilon="1e-9", delta="1e-12")
    with pytest.raises(InvalidArgument, match="size="):
        synthesise(table, COLUMNS, budget=price, mode="tree")
    assert price.ledger.entries == ()
    assert len(synthesise(table, COLUMNS, budget=price, mode="tree", size=50).value.rows) == 50


def test_a_sheet_keeps_columns_whose_names_differ_by_case_alone(
    budget: Callable[..., bruit.Budget], tmp_path: Path
) -> None:
    table = pl.DataFrame({"Age": [30, 40, 50] * 20, "age": [1, 2, 3] * 20})
    columns = {name: within(0, 99, grid=1, missing=None) for name in table.columns}
    made = synthesise(read(table, person=bruit.EACH_ROW), columns, budget=budget(1), mode="tree").value
    sheet = pl.read_excel(made.write(tmp_path / "made.xlsx"), sheet_name="rows", has_header=False)
    assert sheet.row(0) == ("Age", "age")
    assert sheet.height == 1 + len(made.rows)


def test_the_column_that_names_people_is_refused_before_the_charge(budget: Callable[..., bruit.Budget]) -> None:
    named, price = pl.DataFrame({"id": [1, 2, 3], "age": [7, 8, 9]}), budget(1, person="id")
    with pytest.raises(InvalidArgument, match="whose row it is"):
        synthesise(read(named, person="id").limit(rows=1), {"id": within(0, 9, grid=1, missing=0)}, budget=price)
    assert price.ledger.entries == ()


def test_refusals_leave_the_book_untouched(table: Any, budget: Any) -> None:
    price = budget(1)
    wrong = [
        ({"columns": {}}, InvalidArgument),
        ({"columns": {"town": among(["a"])}}, InvalidArgument),
        ({"mode": "forest"}, InvalidArgument),
        ({"size": 0.5}, InvalidArgument),
        ({"expected_rows": -1}, InvalidArgument),
        ({"impossible": [{"age": (0, 99)}]}, InvalidArgument),
        ({"impossible": [{}]}, InvalidArgument),
        ({"impossible": [{"age": (0, 16), "licence": "yes"}]}, InvalidArgument),
        ({"impossible": [{"licence": "yes"}, {"licence": "no"}, {"licence": None}]}, InvalidArgument),
        ({"impossible": {"age": (0, 15), "licence": "yes"}}, InvalidArgument),
        ({"impossible": ["age"]}, InvalidArgument),
        ({"edges": {"region": [1]}}, InvalidArgument),
        ({"edges": {"age": 30}}, InvalidArgument),
        ({"edges": [30]}, InvalidArgument),
    ]
    for given, error in wrong:
        with pytest.raises(error):
            synthesise(table, **{"columns": COLUMNS, "budget": price, **given})  # type: ignore[dict-item]
    with pytest.raises(BudgetMissing):
        synthesise(table, COLUMNS, budget=None)
    with pytest.raises(PrivacyError, match="protects 'id'"):
        synthesise(table, COLUMNS, budget=budget(1, person="id"))
    with pytest.raises(NotPrivate, match="adds Gaussian noise"):
        synthesise(table, COLUMNS, budget=price.ledger.budget(epsilon=1))
    local = bruit.Ledger("l", epsilon=1, neighbours=bruit.LOCAL, person=bruit.EACH_ROW)
    with pytest.raises(NeighboursDiffer):
        synthesise(table, COLUMNS, budget=local.budget(epsilon=1))
    assert price.ledger.entries == local.entries == ()


@pytest.mark.parametrize("rows", [0.5, 0, True, -1])
def test_a_limit_is_a_whole_number_of_rows(rows: Any) -> None:
    with pytest.raises(InvalidArgument):
        read(people(10), person="id").limit(rows=rows)


def test_each_row_a_person_of_its_own_has_no_larger_limit() -> None:
    with pytest.raises(InvalidArgument, match="can only be 1"):
        read(people(10), person=bruit.EACH_ROW).limit(rows=3)


@pytest.mark.parametrize("mode", ["adaptive", "tree"])
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_table_of_one_column_or_of_hardly_any_rows_is_answered(
    budget: Callable[..., bruit.Budget], mode: str, rows: int
) -> None:
    for columns in (COLUMNS, {"region": COLUMNS["region"]}):
        made = synthesise(read(people(4).head(rows), person=bruit.EACH_ROW), columns, budget=budget(1), mode=mode)
        assert len(made.value.rows) >= 1


def test_a_tiny_price_buys_a_table_of_noise(table: Table, budget: Callable[..., bruit.Budget]) -> None:
    book = bruit.Ledger("b", epsilon="1e-4", delta="1e-5", neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
    made = synthesise(table, COLUMNS, budget=book.budget(epsilon="1e-4", delta="1e-5"), mode="tree", size=100)
    assert len(made.value.rows) == 100


def test_a_price_in_rho_is_taken_as_it_is(table: Table) -> None:
    book = bruit.Ledger(
        "b", epsilon=3, delta="1e-5", neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW, by="zcdp"
    )
    rho = ZeroConcentrated("0.05", neighbours=bruit.ADD_OR_REMOVE_ONE)
    synthesise(table, COLUMNS, budget=book.budget(rho), mode="tree")
    assert 0.049 < book.spent.total <= 0.05


def test_what_crashed_while_reading_stays_charged(budget: Callable[..., bruit.Budget], tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    people(50).write_parquet(path)
    gone, price = read(str(path), person=bruit.EACH_ROW), budget(1)
    assert gone.columns
    path.unlink()
    with pytest.raises(StorageError):
        synthesise(gone, COLUMNS, budget=price)
    assert price.ledger.spent.epsilon > 0


def test_a_table_can_be_kept_and_written(table: Table, budget: Callable[..., bruit.Budget], tmp_path: Path) -> None:
    made = synthesise(table, COLUMNS, budget=budget(1), mode="tree").value
    again: SyntheticTable = pickle.loads(pickle.dumps(made))
    assert again.frame().equals(made.frame())
    assert pl.read_parquet(made.write(tmp_path / "t.parquet")).equals(made.frame())
    assert pl.read_csv(made.write(tmp_path / "t.csv")).shape == made.frame().shape
    with pytest.raises(InvalidArgument, match=r"as \.csv, \.parquet, \.xlsx"):
        made.write(tmp_path / "t.xls")


def test_a_column_to_predict_is_measured_with_every_other(budget: Callable[..., bruit.Budget]) -> None:
    rng = np.random.default_rng(4)
    names = [f"c{i}" for i in range(12)]
    frame = pl.DataFrame(rng.integers(0, 3, (500, 12)), names)
    columns = {name: within(0, 2, grid=1, missing=0) for name in names}
    made = synthesise(read(frame, person=bruit.EACH_ROW), columns, budget=budget(1), predict="c7", rng=rng).value
    assert {names for names in made.measured if len(names) == 2} >= {
        tuple(sorted(("c7", name), key=names.index)) for name in names if name != "c7"
    }
    assert all("c7" in each for each in made.measured if len(each) == 3)


@pytest.mark.parametrize(("predict", "mode"), [("nothing", "adaptive"), ("age", "tree")])
def test_a_column_to_predict_is_checked_before_anything_is_paid(
    table: Table, budget: Callable[..., bruit.Budget], predict: str, mode: str
) -> None:
    price = budget(1)
    with pytest.raises(InvalidArgument, match=r"predict|no column"):
        synthesise(table, COLUMNS, budget=price, predict=predict, mode=mode)
    assert price.ledger.spent.epsilon == 0


@pytest.mark.parametrize("mode", ["adaptive", "tree"])
def test_any_number_of_rows_is_drawn_from_the_same_counts(
    table: Table, budget: Callable[..., bruit.Budget], mode: str
) -> None:
    price = budget(3)
    impossible = [{"age": (0, 14), "licence": "yes"}]
    edges = {"age": [15, 30, 45, 60, 75]}
    made = synthesise(
        table, COLUMNS, budget=price, mode=mode, edges=edges, impossible=impossible, rng=np.random.default_rng(5)
    ).value
    spent = price.ledger.spent.epsilon
    drawn = made.draw(40_000)
    assert (drawn.height, drawn.columns) == (40_000, list(COLUMNS))
    assert drawn.equals(made.draw(40_000))
    assert drawn.filter(pl.col("age") < 15, pl.col("licence") == "yes").is_empty()
    share = drawn.filter(pl.col("licence") == "yes").height / 40_000
    assert share == pytest.approx(float(made.count({"licence": "yes"}).value) / made.fit.people, abs=0.02)
    assert price.ledger.spent.epsilon == spent
    with pytest.raises(InvalidArgument, match="rows"):
        made.draw(0)
