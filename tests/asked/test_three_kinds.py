"""Asked: which of these lines is a view, which is in-place, and which is an ordinary operation?"""

from __future__ import annotations

from asked.asking import Asker, alarms, births, only_write

CELL = """\
flat = x.view(-1)
turned = x.t()
x.add_(1)
more = x + 1
"""
GIVEN = "x = torch.arange(6.0).reshape(2, 3).clone()\n"


def test_the_three_kinds_stand_side_by_side(ask: Asker) -> None:
    asked = ask(CELL, given=GIVEN)
    assert [call.kind for call in asked.report.calls] == ["view", "view", "in-place", "ordinary"]
    table = asked.frame("calls")
    assert table.loc[[2, 3, 4, 5], "kind"].tolist() == ["view", "view", "in-place", "ordinary"]
    text = asked.report.to_text()
    assert text.count("new object, same memory") == 2
    assert text.count("same object, same memory") == 1
    assert alarms(asked.report) == []


def test_a_view_is_another_tensor_on_the_same_memory(ask: Asker) -> None:
    asked = ask(CELL, given=GIVEN)
    for line in (2, 3):
        (x,), (view,) = asked.call(line).inputs, asked.call(line).outputs
        assert view.tensor != x.tensor
        assert view.python_id != x.python_id
        assert (view.storage, view.data_ptr, view.counter) == (x.storage, x.data_ptr, x.counter)
        assert view.is_view
    (flat,), (turned,) = asked.call(2).outputs, asked.call(3).outputs
    assert (flat.shape, flat.strides) == ((6,), (1,))
    assert (turned.shape, turned.strides) == ((3, 2), (1, 3))


def test_the_inplace_write_changes_every_view_too(ask: Asker) -> None:
    asked = ask(CELL, given=GIVEN)
    write = only_write(asked.call(4))
    (flat,) = asked.call(2).outputs
    assert write.counter == flat.counter
    assert (write.values_before, write.values_after) == ((0, 1, 2, 3, 4, 5), (1, 2, 3, 4, 5, 6))
    assert asked.user["flat"].tolist() == [1, 2, 3, 4, 5, 6]
    assert asked.user["flat"]._version == asked.user["x"]._version == 1


def test_an_ordinary_operation_is_the_only_one_that_makes_memory(ask: Asker) -> None:
    asked = ask(CELL, given=GIVEN)
    (x,), (more,) = asked.call(5).inputs, asked.call(5).outputs
    assert more.storage != x.storage
    assert (x.version, more.version) == (1, 0)
    assert births(asked.report) == 1
    assert asked.frame("lines").loc[[2, 3, 4, 5], "allocated_bytes"].tolist() == [0, 0, 0, 24]
