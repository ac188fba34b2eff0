"""Rule 12 over everything that adds noise: no small table moves the exact integers further than was paid for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from mechanism_list import mechanisms

from bruit import ADD_OR_REMOVE_ONE, EACH_ROW, Ledger, central, randomness, tables
from bruit.apps.audits.small_tables import sums
from bruit.audit import check_sensitivity
from bruit.central.questions.sensitivities import sensitivity as stated_sensitivity
from bruit.channels import CubeNoise
from bruit.core.losses import Loss, Pure
from bruit.core.neighbours import Neighbours
from bruit.errors import InvalidArgument
from bruit.learning.estimator.contract import FitRequest
from bruit.mechanisms import buying
from bruit.randomness import discrete_gaussian
from bruit.tables.choice.limits import Limit

WALKS = list(sums.walks())
OF_RESPONDENTS = ("local.", "aggregation.")
"""Reports are noised one by one before anything is summed: `channel.epsilon` is the whole of them."""


def test_every_callable_that_is_paid_is_walked_or_says_why_not(request: pytest.FixtureRequest) -> None:
    paid = {name for name in mechanisms() if not name.startswith(OF_RESPONDENTS)}
    walked = {walk.name for walk in WALKS}
    assert paid - walked - sums.EXEMPT.keys() == set()
    assert walked - paid == set()
    assert not walked & sums.EXEMPT.keys()
    terminal = request.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:
        terminal.write_line(
            f"sensitivities: {len(WALKS)} walks of {len(walked)} callables, two relations; {len(sums.EXEMPT)} exempt"
        )


@pytest.mark.parametrize("name", sorted({walk.name for walk in WALKS}))
def test_rule_12_no_small_table_moves_integers_further_than_was_paid_for(name: str) -> None:
    lines = [line for walk in WALKS if walk.name == name for line in walk.run(most=sums.MOST_PEOPLE["small"])]
    assert [(line.name, line.reached, line.charged, line.fault) for line in lines if not line.holds] == []
    assert max(line.reached / line.charged for line in lines) > 0.2, "small people who move nothing check nothing"


@pytest.mark.stress
def test_two_processes_walk_what_one_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "walks", lambda: iter(WALKS[:4]))
    alone, both = (sums.run("small", workers=workers) for workers in (1, 2))
    assert len(alone) == 8
    assert alone == both


def rows_walk(name: str, variant: str) -> sums.Walk:
    return next(walk for walk in WALKS if (walk.name, walk.variant) == (name, variant))


@pytest.mark.parametrize("name", ["LinearRegression", "NaiveBayes", "KMeans", "PCA", "Forest"])
def test_noise_for_one_row_of_a_person_who_has_two_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FitRequest, "rows_changed", property(lambda question: 2 if question.exchanged else 1))
    lines = rows_walk(f"learning.{name}", "rows=2").run(most=3)
    assert not all(line.holds for line in lines)


def test_noise_without_one_of_the_entries_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = buying._gaussian
    monkeypatch.setattr(buying, "_gaussian", lambda budget, entries, *more: right(budget, max(1, entries // 2), *more))
    monkeypatch.setattr(buying, "_cube", lambda budget, entries, moved, *more: _half(budget, entries, moved, more))
    assert not all(line.holds for line in rows_walk("learning.PCA", "each row").run(most=3))


_cube = buying._cube


def _half(budget: Any, entries: int, moved: int, more: tuple[Any, ...]) -> Any:
    return _cube(budget, entries, max(1, moved // 2), *more)


def test_a_limit_that_is_priced_and_not_kept_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bruit.central.questions.asking.sensitivity", _for_one_row)
    assert not all(line.holds for line in rows_walk("sql.ask", str(Limit(rows=2))).run(most=3))


def _for_one_row(row: Any, limit: Any, **more: Any) -> Any:
    return stated_sensitivity(row, Limit(rows=1), **more)


def own_score(sensitivity: int) -> Any:
    """A score of a user's own that one row moves by two, stated as it is or too small."""

    def release(rows: Sequence[Any], neighbours: Neighbours) -> Loss:
        book = Ledger("own", epsilon=1, neighbours=neighbours, person=EACH_ROW)
        table = tables.read(pl.DataFrame({"x": list(rows)}, schema={"x": pl.Int64}), person=EACH_ROW)
        central.exponential(
            table,
            ["a", "b"],
            _doubled,
            sensitivity=sensitivity,
            budget=book.budget(epsilon=1),
            rng=np.random.default_rng(1),
        )
        return book.entries[0].loss

    return release


def _doubled(table: Any) -> list[int]:
    return [2 * table.frame.collect().height, 0]


def test_a_score_of_ones_own_is_held_to_what_was_said_of_it() -> None:
    people = [(), (1,), (2,)]
    right, wrong = (check_sensitivity("own", own_score(stated), people, others=(5,)) for stated in (2, 1))
    assert all(line.holds for line in right)
    assert not wrong[0].holds
    assert wrong[0].neighbours is ADD_OR_REMOVE_ONE
    assert wrong[0].to_json()["verdict"] == "fails"


def test_what_adds_no_noise_is_no_release() -> None:
    (line, _) = check_sensitivity("nothing", lambda _rows, neighbours: Pure(1, neighbours=neighbours), [(), (1,)])
    assert not line.holds
    assert line.fault == "no noise was heard"


def test_noise_is_noise_again_after_one_has_listened() -> None:
    assert not all(discrete_gaussian(100, 50, rng=np.random.default_rng(1)) == 0)


def count_with(add: Any) -> Any:
    """A release of a count whose noise and charge come from a function of the rows and their number."""

    def release(rows: Sequence[int], neighbours: Neighbours) -> Loss:
        return Pure(add(rows, np.array([len(rows)])), neighbours=neighbours)

    return release


def sent(scale: Any, exact: Any) -> int:
    _ = randomness.discrete_laplace(Fraction(scale), 1) + exact
    return 1


def sent_twice(_rows: Any, exact: Any) -> int:
    noise = randomness.discrete_laplace(Fraction(2), 1)
    _ = noise + exact, noise + 0 * exact
    return 1


def sent_unseen(_rows: Any, exact: Any) -> int:
    _ = np.asarray(randomness.discrete_laplace(Fraction(2), 1)) + exact
    return sent(2, 0 * exact)


def sent_to_two_numbers(_rows: Any, exact: Any) -> int:
    _ = randomness.discrete_laplace(Fraction(2), 1) + np.array([*exact, 0])
    return 1


def sent_again_as_a_copy(_rows: Any, exact: Any) -> int:
    noise = randomness.discrete_laplace(Fraction(2), 1)
    _ = noise + 0 * exact, noise.copy() + exact
    return 1


def sent_again_by_place(_rows: Any, exact: Any) -> int:
    noise = randomness.discrete_laplace(Fraction(2), 1)
    _ = noise + 0 * exact, noise[[0, 0]] + np.array([*exact, 0])
    return 1


def sent_to_one_of_two(_rows: Any, exact: Any) -> int:
    both = np.array([*exact, *exact])
    np.add(both, randomness.discrete_laplace(Fraction(4), 2), out=both, where=[True, False])
    return 1


def sent_as_gaussian(_rows: Any, exact: Any) -> int:
    _ = randomness.discrete_gaussian(Fraction(4), 1) + exact
    return 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (sent_to_two_numbers, "the same noise was added twice"),
        (sent_again_as_a_copy, "a copy of noise was added"),
        (sent_again_by_place, "a copy of noise was added"),
        (sent_to_one_of_two, "noise was drawn and added to nothing that can be seen"),
    ],
)
def test_noise_of_several_numbers_that_is_one_draw_is_caught(wrong: Any, said: str) -> None:
    """Once noise was known by where it lies alone: one draw under two numbers, or its copy, passed."""
    lines = check_sensitivity("own", count_with(wrong), [(), (1,), (2,)], others=(5,))
    assert [(line.holds, line.fault) for line in lines] == [(False, said)] * 2


@pytest.mark.parametrize("turned", [False, True])
def test_a_block_of_a_cube_is_priced_as_it_was_drawn(turned: bool) -> None:
    """One person moves a number of each of three blocks: three times what one block costs."""

    def release(rows: Sequence[int], neighbours: Neighbours) -> Loss:
        numbers = np.zeros((3, 3), np.int64)
        numbers[0] = len(rows)
        noise = CubeNoise(Fraction(1), 3, Pure(1, neighbours=neighbours)).draw(3)
        _ = numbers + noise.T if turned else numbers.T + noise
        return Pure(1, neighbours=neighbours)

    (line, _) = check_sensitivity("own", release, [(), (1,)], others=(5,))
    assert (line.holds, line.reached) == (False, 3)


def test_a_move_beyond_64_bits_does_not_wrap_around() -> None:
    def ends(rows: Any, _exact: Any) -> int:
        return sent(2, np.array([2**63 - 1 if len(rows) > 1 else -(2**63)]))

    (line, _) = check_sensitivity("own", count_with(ends), [(), (1,)], others=(5,))
    assert not line.holds


WRONG = {
    "the law or the width of a noise depends on a record": lambda rows, exact: sent(10 if len(rows) < 2 else 1, exact),
    "the charge depends on a record": lambda rows, exact: sent(2, exact) * (1 if len(rows) > 1 else 100),
    "the same noise was added twice": sent_twice,
    "noise was drawn and added to nothing that can be seen": sent_unseen,
    "Gaussian noise is charged as a pure loss": sent_as_gaussian,
}


@pytest.mark.parametrize("fault", WRONG)
def test_noise_that_hangs_on_a_record_or_hides_nothing_is_caught(fault: str) -> None:
    (line, _) = check_sensitivity("own", count_with(WRONG[fault]), [(), (1,), (2,)], others=(5,))
    assert (line.holds, line.fault) == (False, fault)
    (right, _) = check_sensitivity("own", count_with(lambda _, exact: sent(2, exact)), [(), (1,), (2,)], others=(5,))
    assert right.holds


def test_a_walk_of_nobody_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="nobody"):
        check_sensitivity("own", count_with(lambda _, exact: sent(2, exact)), [()])
