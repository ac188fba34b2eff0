import narwhals as nw
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.tables import bounding, within

KEYS = st.builds(bounding.Key, *[st.integers(0, bounding.MODULUS - 1)] * 3)
DOMAIN = within(-5, 40, grid=1)


def of(rows, person):
    return pl.DataFrame(rows, schema={"person": person, "integer": pl.Int64}, orient="row").lazy()


def told(frame):
    return dict(frame.collect().to_polars().select("integer", "rows").iter_rows())


@pytest.mark.parametrize("person", [pl.Int64, pl.String])
@given(rows=st.lists(st.tuples(st.integers(-3, 6), st.integers(0, 40))), key=KEYS)
def test_one_row_each_is_what_the_general_way_keeps(rows, key, person):
    frame = nw.from_native(of([(who, integer) for who, integer in rows], pl.Int64).cast({"person": person}))
    counted = frame.group_by("person", "integer").agg(nw.len().alias("rows"))
    kept = bounding.chosen_groups(counted, groups=1, key=key).collect().to_polars()
    expected = dict(kept.group_by("integer").len().iter_rows())
    assert told(bounding.bounded_groups(frame, groups=1, rows=1, key=key)) == expected


@given(rows=st.lists(st.tuples(st.integers(-3, 6), st.integers(-5, 40))), key=KEYS)
def test_one_row_in_all_is_the_least_by_hash_then_by_integer(rows, key):
    def place(who, integer):
        modulus = bounding.MODULUS
        return (who * key.person + integer * key.group + key.offset) % modulus, integer

    kept = {who: min((place(who, each) for other, each in rows if other == who))[1] for who, _ in rows}
    expected = {integer: list(kept.values()).count(integer) for integer in kept.values()}
    frame = nw.from_native(of(rows, pl.Int64))
    assert told(bounding.bounded_rows(frame, rows=1, key=key, domain=DOMAIN)) == expected
