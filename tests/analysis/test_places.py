"""Places in the user's code, and how two of them lie to each other."""

from __future__ import annotations

from dataclasses import replace

from inplace_magic.record.places import Callsite, where_they_part

CELL = Callsite(line=9, cell=3, statement="y = outer(x)", expression="outer(x)")
OUTER = Callsite(line=5, cell=3, function="outer", caller=CELL, statement="return inner(x) + x", column=11)
INNER = Callsite(line=2, cell=3, function="inner", caller=OUTER, statement="return x * 2")


def test_a_chain_begins_with_the_outermost_place_and_ends_with_the_place_itself() -> None:
    assert INNER.chain == (CELL, OUTER, INNER)
    assert CELL.chain == (CELL,)
    assert INNER.outermost is CELL.outermost is CELL


def test_one_function_is_of_one_cell_or_file() -> None:
    assert OUTER.same_function(replace(OUTER, line=6, caller=None))
    assert not OUTER.same_function(INNER)
    assert not OUTER.same_function(replace(OUTER, cell=4))
    assert not OUTER.same_function(replace(OUTER, cell=None, file="net.py"))
    assert not OUTER.same_function(None)


def test_one_line_is_one_whatever_led_there() -> None:
    assert OUTER.same_line(replace(OUTER, column=20, caller=None))
    assert not OUTER.same_line(replace(OUTER, line=6))
    assert not OUTER.same_line(replace(OUTER, function="other"))
    assert not OUTER.same_line(None)


def test_one_run_was_reached_by_the_same_places() -> None:
    assert OUTER.same_run(replace(OUTER, line=6))
    assert not OUTER.same_run(replace(OUTER, caller=replace(CELL, line=10)))
    assert not OUTER.same_run(replace(OUTER, caller=None))
    assert not OUTER.same_run(None)


def test_one_statement_is_on_one_line_and_in_one_run() -> None:
    assert OUTER.same_statement(replace(OUTER, column=20, expression="x"))
    assert not OUTER.same_statement(replace(OUTER, statement="x += 1"))
    assert not OUTER.same_statement(replace(OUTER, caller=replace(CELL, line=10)))
    assert not OUTER.same_statement(None)


def test_two_chains_part_in_the_innermost_function_that_they_have_in_common() -> None:
    later = replace(INNER, line=3)
    assert where_they_part(INNER.chain, later.chain) == [INNER, later]
    beside = replace(OUTER, line=6, function="outer")
    assert where_they_part(INNER.chain, replace(INNER, caller=beside).chain) == [OUTER, beside]
    assert where_they_part(INNER.chain, replace(CELL, line=10).chain) == [CELL, replace(CELL, line=10)]


def test_two_functions_called_by_one_line_part_at_that_line() -> None:
    other = replace(INNER, function="another", line=12)
    assert where_they_part(INNER.chain, other.chain) == [OUTER, OUTER]
    assert where_they_part(INNER.chain, OUTER.chain) == [OUTER, OUTER]


def test_three_chains_part_where_the_first_of_them_leaves() -> None:
    below = replace(CELL, line=10)
    assert where_they_part(INNER.chain, replace(INNER, line=3).chain, below.chain) == [CELL, CELL, below]
    assert where_they_part(INNER.chain) == [INNER]
