"""Each part has its tables and its number."""

import threading

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, inspect

from bruit.errors import SchemaTooNew, SchemaTooOld
from bruit.storage import connect, prepare, writing

TABLES = MetaData()
Table("polls", TABLES, Column("number", Integer, primary_key=True))


def test_tables_are_made_once_and_a_later_number_is_refused(store: str) -> None:
    engine = connect(store)
    for _ in range(2):
        prepare(engine, "polls", number=3, tables=TABLES)
    assert inspect(engine).has_table("polls")
    with pytest.raises(SchemaTooNew, match="schema 3"):
        prepare(engine, "polls", number=2, tables=TABLES)


def test_older_tables_are_brought_up_step_by_step_or_refused(store: str) -> None:
    engine, seen = connect(store), []
    prepare(engine, "polls", number=1, tables=TABLES)
    steps = {number: (lambda _, number=number: seen.append(number)) for number in (1, 2)}
    prepare(engine, "polls", number=3, tables=TABLES, migrations=steps)
    prepare(engine, "polls", number=3, tables=TABLES, migrations=steps)
    assert seen == [1, 2]
    with pytest.raises(SchemaTooOld, match="schema 3"):
        prepare(engine, "polls", number=5, tables=TABLES, migrations={4: steps[1]})
    with writing(engine) as connection:
        assert connection.exec_driver_sql("SELECT number FROM bruit_schema WHERE part = 'polls'").scalar() == 3


def test_many_can_prepare_at_once(store: str) -> None:
    engine, failures = connect(store), []

    def work() -> None:
        try:
            prepare(engine, "polls", number=1, tables=TABLES)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with writing(engine) as connection:
        assert connection.exec_driver_sql("SELECT number FROM bruit_schema WHERE part = 'polls'").scalar() == 1
