"""By which of the user's names a call read a tensor."""

from __future__ import annotations

from builders import made, site, tensor

from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import level, paths_read

CELL = ("loss = lm_loss(input_ids, labels)", "vectors = weight[ids]", "y = self.head(h)")


def inside() -> Callsite:
    """``weight[ids]`` in ``lm_loss(ids, labels)``, called from the cell."""
    outer = site(1, CELL, expression="lm_loss(input_ids, labels)")
    return site(2, CELL, function="lm_loss", expression="weight[ids]", parameters=("ids", "labels"), caller=outer)


def call_at(where: Callsite | None) -> CallEvent:
    return made(0, "Tensor.__getitem__", where, (tensor(1),), (tensor(2),))


def test_the_place_in_the_same_function_is_found_along_the_callers() -> None:
    assert level(inside(), site(3, CELL)) == inside().caller
    assert level(inside(), site(1, CELL, function="lm_loss")) == inside()
    assert level(inside(), site(1, CELL, function="other")) is None
    assert level(None, site(1, CELL)) is None


def test_the_same_function_name_in_another_cell_is_another_function() -> None:
    assert level(inside(), site(1, CELL, cell=8, function="lm_loss")) is None


def test_a_read_is_told_in_the_names_of_its_own_line() -> None:
    assert {"weight", "ids"} <= paths_read(inside(), inside())


def test_a_read_in_a_helper_is_told_in_the_callers_names() -> None:
    assert paths_read(inside(), site(3, CELL)) == {"input_ids"}


def test_a_read_that_was_not_made_from_there_has_no_names() -> None:
    assert paths_read(inside(), site(1, CELL, function="other")) == set()
    assert paths_read(None, site(1, CELL)) == set()


def test_the_target_of_an_assignment_is_not_read() -> None:
    where = site(1, ("total = x.data + self.h",), expression="total = x.data + self.h")
    assert paths_read(where, where) == {"x", "x.data", "self", "self.h"}


def test_the_target_of_an_augmented_assignment_is_read() -> None:
    where = site(1, ("total += x",), expression="total += x")
    assert paths_read(where, where) == {"total", "x"}


def test_an_argument_that_is_an_alias_counts_for_the_tensor_behind_it() -> None:
    outer = site(1, ("f(x.detach())",))
    where = site(2, CELL, function="f", expression="t * 2", parameters=("t",), caller=outer)
    assert paths_read(where, outer) == {"x"}
