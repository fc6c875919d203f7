"""What a call did to each tensor."""

from __future__ import annotations

from dataclasses import replace

from builders import sigmoid_trace, site, tensor

from inplace_magic.analysis.effects import effects_of
from inplace_magic.record.events import CallEvent, Mutation


def kinds(call: CallEvent) -> list[tuple[str, int]]:
    return [(row.kind, row.tensor) for row in effects_of(call)]


def test_the_sigmoid_cell_creates_four_tensors_and_writes_one_of_them():
    rows = [(row.call, row.kind, row.tensor) for call in sigmoid_trace().calls for row in effects_of(call)]

    assert rows == [
        (0, "created", 1),
        (1, "created", 2),
        (2, "created", 3),
        (3, "created", 4),
        (4, "mutated", 4),
        (5, "created", 5),
    ]


def test_one_call_can_give_a_view_a_new_tensor_and_its_input():
    x = tensor(1)
    outputs = (x, tensor(2, storage=1), tensor(3))

    assert kinds(CallEvent(0, "f", "view", site(2), (x,), outputs)) == [("returned", 1), ("viewed", 2), ("created", 3)]


def test_a_written_tensor_that_is_also_returned_has_one_row():
    x = tensor(1)
    after = replace(x, version=1)
    call = CallEvent(0, "Tensor.add_", "in-place", site(2), (x,), (after,), (Mutation(1, 0, 1),), mutated=(after,))

    (row,) = effects_of(call)

    assert (row.kind, row.before, row.after, row.version_before, row.version_after) == ("mutated", x, after, 0, 1)


def test_a_version_bump_without_a_write_is_no_mutation():
    x = tensor(1, shape=(3, 4))
    after = replace(x, version=1, shape=(4, 3), strides=(1, 4))

    assert kinds(CallEvent(0, "Tensor.t_", "metadata", site(2), (x,), (after,), (Mutation(1, 0, 1),))) == [
        ("reshaped", 1)
    ]


def test_a_view_names_the_input_whose_memory_it_shares():
    other, base = tensor(1), tensor(2)

    (row,) = effects_of(CallEvent(0, "f", "view", site(2), (other, base), (tensor(3, storage=2),)))

    assert row.base == base


def test_without_a_storage_the_kind_of_the_call_decides():
    sparse = tensor(1, storage=None)

    assert kinds(CallEvent(0, "f", "view", site(2), (sparse,), (tensor(2, storage=None),))) == [("viewed", 2)]
    assert kinds(CallEvent(0, "f", "ordinary", site(2), (sparse,), (tensor(2, storage=None),))) == [("created", 2)]
