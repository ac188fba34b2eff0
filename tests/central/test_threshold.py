import copy
import os
import pickle
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from laws import assert_law

from bruit.central import AboveThreshold
from bruit.errors import BudgetMissing, InvalidArgument, PrivacyError
from bruit.ledger import Ledger
from bruit.tables import Table


def discrete_laplace_mass(places: Any, scale: Any) -> Any:
    return np.tanh(0.5 / scale) * np.exp(-np.abs(places) / scale)


def test_the_index_of_the_first_above_follows_its_law(ledger: Ledger, table: Table) -> None:
    """Two questions at epsilon 2: the law of {first, second, none} summed over the noise of the threshold."""
    rng, answers = np.random.default_rng(4), [-1, 1]
    places = np.arange(-80, 81)
    threshold = discrete_laplace_mass(places, 1.0)
    above = [
        np.array([discrete_laplace_mass(places, 2.0)[places + answer >= t].sum() for t in places]) for answer in answers
    ]
    law = [threshold @ above[0], threshold @ ((1 - above[0]) * above[1]), threshold @ ((1 - above[0]) * (1 - above[1]))]
    seen = [0, 0, 0]
    for _ in range(2048):
        asking = AboveThreshold(table, 0, sensitivity=1, budget=ledger.budget(epsilon=2), rng=rng)
        first = asking.first([lambda _: -1, lambda _: 1])
        seen[2 if first is None else first] += 1
    assert_law(seen, np.array(law) / sum(law))


def test_it_stops_at_the_first_answer_above(ledger: Ledger, table: Table) -> None:
    asking = AboveThreshold(table, 0, sensitivity=1, budget=ledger.budget(epsilon=1))
    assert asking.first([lambda _: -1000, lambda _: 1000]) == 1
    with pytest.raises(PrivacyError, match="pay for another"):
        asking.ask(lambda _: 0)
    assert asking.guarantee.epsilon == 1
    assert len(ledger.entries) == 1


def test_rule_8_noise_is_never_copied(ledger: Ledger, table: Table) -> None:
    asking = AboveThreshold(table, 0, sensitivity=1, budget=ledger.budget(epsilon=1))
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(PrivacyError, match="cannot be copied"):
            copied(asking)


@pytest.mark.parametrize("answer", [float("nan"), "1", None, [1]])
def test_a_question_that_answers_no_rows_with_no_number_is_refused_and_costs_nothing(
    ledger: Ledger, table: Table, answer: Any
) -> None:
    asking = AboveThreshold(table, 0, sensitivity=1, budget=ledger.budget(epsilon=1))
    with pytest.raises(InvalidArgument, match="whole number"):
        asking.ask(lambda _: answer)
    assert asking.ask(lambda _: 1000)


@pytest.mark.parametrize("answer", [float("nan"), "1", None, 0.9, ZeroDivisionError()])
def test_rule_2_a_question_is_read_whatever_the_records_make_of_it(ledger: Ledger, table: Table, answer: Any) -> None:
    def question(rows: Any) -> Any:
        if isinstance(answer, Exception) and len(rows.frame.collect()):
            raise answer
        return answer if len(rows.frame.collect()) else 0

    asking = AboveThreshold(table, 1, sensitivity=1, budget=ledger.budget(epsilon=10_000))
    assert not asking.ask(question), "an answer of zero, or of 0.9 floored, is below one"


def test_its_entry_is_open_until_the_first_yes_or_its_end(ledger: Any, table: Table) -> None:
    asking = AboveThreshold(table, 0, sensitivity=1, budget=ledger.budget(epsilon=1))
    asking.ask(lambda _: -1000)
    assert ledger.entries[0].state == "open"
    asking.ask(lambda _: 1000)
    assert [(line.state, line.release.value) for line in ledger.entries] == [("finished", 1)]
    assert asking.close().receipt == ledger.receipt(1)
    closed = AboveThreshold(table, 0, sensitivity=1, budget=ledger.budget(epsilon=1)).close()
    assert (closed.value, closed.details, ledger.entries[1].state) == (None, {"questions": 0}, "finished")
    assert ledger.releases[1].value is None


def test_nothing_is_answered_after_its_end(ledger: Ledger, table: Table) -> None:
    asking = AboveThreshold(table, 0, sensitivity=1, budget=ledger.budget(epsilon=1))
    asking.close()
    with pytest.raises(PrivacyError, match="closed"):
        asking.ask(lambda _: 1000)


def test_declared_numbers_are_checked_before_the_charge(ledger: Any, table: Any) -> None:
    with pytest.raises(InvalidArgument, match="sensitivity"):
        AboveThreshold(table, 0, sensitivity=0, budget=ledger.budget(epsilon=1))
    with pytest.raises(InvalidArgument, match="threshold"):
        AboveThreshold(table, 0.5, sensitivity=1, budget=ledger.budget(epsilon=1))
    with pytest.raises(BudgetMissing):
        AboveThreshold(table, 0, sensitivity=1, budget=None)
    assert not ledger.entries


def test_threads_cannot_hear_two_answers_above(ledger: Ledger, table: Table) -> None:
    """A slow question below must not reopen what a quick one above has closed."""
    asking = AboveThreshold(table, 0, sensitivity=1, budget=ledger.budget(epsilon=1))
    heard, started = [], threading.Event()

    def slow(_: Any) -> int:
        started.set()
        time.sleep(0.05)
        return -1000

    def ask(question: Any) -> None:
        try:
            heard.append(asking.ask(question))
        except PrivacyError:
            heard.append("refused")

    threads = [threading.Thread(target=ask, args=(slow,))]
    threads[0].start()
    started.wait()
    threads += [threading.Thread(target=ask, args=(lambda _: 1000,)) for _ in range(8)]
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard.count(True) == 1
    assert heard.count("refused") == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_hears_nothing() -> None:
    program = """
import os, polars, bruit
from bruit.errors import PrivacyError
table = bruit.tables.read(polars.DataFrame({"x": [1]}), person=bruit.EACH_ROW)
book = bruit.Ledger("rows", epsilon=1, neighbours=bruit.REPLACE_ONE, person=bruit.EACH_ROW)
asking = bruit.central.AboveThreshold(table, 0, sensitivity=1, budget=book.budget(epsilon=1))
if os.fork() == 0:
    try:
        asking.ask(lambda _: 1000)
    except PrivacyError:
        os._exit(7)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "7"


def test_a_question_can_neither_ask_nor_close(ledger: Ledger, table: Table) -> None:
    """Asked from inside, two answers above could be given for the price of one."""
    search = AboveThreshold(table, 0, sensitivity=1, budget=ledger.budget(epsilon=1000))
    caught = []

    def question(_: Any) -> int:
        for act in (lambda: search.ask(lambda _: 1000), search.close):
            try:
                act()
            except PrivacyError as error:
                caught.append(str(error))
        return -1000

    assert not search.ask(question)
    assert len(caught) == 4  # tried on no rows, then on the table
    assert all("a question cannot" in each for each in caught)
    assert search.ask(lambda _: 1000)
    with pytest.raises(PrivacyError, match="found its answer"):
        search.ask(lambda _: 1000)
