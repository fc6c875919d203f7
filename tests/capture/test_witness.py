"""Digests of raw memory, for writes that no version tells of; and the lines between which they came."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from capture.watching import call_of, report_of, saved_by, trace_of

import inplace_magic
from inplace_magic.capture import witness
from inplace_magic.capture.records import StorageRecord
from inplace_magic.capture.torch import describe


def record_of(tensor: torch.Tensor) -> StorageRecord:
    untyped = tensor.untyped_storage()
    record = StorageRecord(untyped)
    record.serial, record.nbytes, record.device, record.foreign = 1, untyped.nbytes(), untyped.device, True
    return record


@pytest.mark.parametrize(
    ("tensor", "nbytes"),
    [
        (torch.ones(3, 4), 48),
        (torch.ones(3, 4).t(), 48),
        (torch.ones(3, 4)[1:], 32),
        (torch.ones(1, 3), 12),
        (torch.tensor(1.0), 4),
        (torch.ones(3, 4)[:, 1:], None),
        (torch.ones(3).expand(2, 3), None),
        (torch.empty(0), None),
        (torch.ones(2, device="meta"), None),
        (torch.eye(2).to_sparse(), None),
    ],
)
def test_one_stretch_of_memory_has_a_span_and_nothing_else(tensor: torch.Tensor, nbytes: int | None) -> None:
    assert (describe.layout(tensor).span or None) == nbytes


def test_a_digest_tells_whether_saved_memory_changed() -> None:
    x = torch.arange(4.0)
    part = x[1:3]
    layout = describe.layout(part)
    digest = witness.saved_digest(record_of(part), layout, False)
    assert digest is not None
    record = record_of(x)
    x.data[0] = 9  # outside of what was saved
    assert witness.still_equal(record, layout, digest)
    x.data[1] = 9
    assert not witness.still_equal(record, layout, digest)
    x.data[1] = 1
    assert witness.still_equal(record, layout, digest)


def test_memory_that_is_gone_or_smaller_now_counts_as_unchanged() -> None:
    x = torch.arange(4.0)
    layout = describe.layout(x)
    digest = witness.saved_digest(record_of(x), layout, False)
    assert digest is not None
    gone = record_of(torch.ones(4))
    assert gone() is None
    assert witness.still_equal(gone, layout, digest)
    x.untyped_storage().resize_(4)
    assert witness.still_equal(record_of(x), layout, digest)


def test_large_saved_tensors_are_digested_only_when_asked() -> None:
    x = torch.zeros(witness.SAVED_LIMIT)
    assert witness.saved_digest(record_of(x), describe.layout(x), False) is None
    assert witness.saved_digest(record_of(x), describe.layout(x), True) is not None


def test_only_memory_that_changed_since_the_last_look_is_named() -> None:
    x, y = torch.ones(2), torch.ones(2)
    memory = witness.SharedMemory(check_values=False)
    assert not memory.digests
    one, other = record_of(x), record_of(y)
    memory.add(one)
    memory.add(other)
    assert memory.digests
    assert memory.changed() == []
    x.add_(1)
    assert memory.changed() == [one]
    assert memory.changed() == []


def test_a_write_by_numpy_lies_between_two_calls_at_the_only_line_that_can_have_made_it() -> None:
    frame = np.ones(2, dtype=np.float32)
    x = torch.from_numpy(frame)
    with inplace_magic.watch() as watch:
        x.mul(1)
        frame /= 2
        x.mul(2)
    (foreign,) = trace_of(watch).foreign
    assert foreign.noticed == 1
    assert foreign.callsite is not None
    assert foreign.callsite.text == "frame /= 2"
    assert foreign.storage == trace_of(watch).calls[0].inputs[0].storage


def test_a_write_by_torch_itself_is_no_foreign_write() -> None:
    x = torch.from_numpy(np.ones(2, dtype=np.float32))
    with inplace_magic.watch() as watch:
        x.mul(1)
        x.mul_(2)
        x.mul(1)
    assert trace_of(watch).foreign == ()


def test_memory_handed_out_by_numpy_is_looked_at_from_then_on() -> None:
    x = torch.ones(2)
    with inplace_magic.watch() as watch:
        array = x.numpy()
        x.mul(1)
        array[0] = 7
        x.mul(1)
    (foreign,) = trace_of(watch).foreign
    assert foreign.storage == call_of(watch, "Tensor.numpy").inputs[0].storage


@pytest.mark.parametrize(("factor", "filled", "again"), [(2, False, True), (1, False, False), (2, True, False)])
def test_a_row_of_an_array_is_known_again_by_what_was_left_in_it(factor: int, filled: bool, again: bool) -> None:
    array = np.arange(2_000, dtype=np.float32).reshape(2, 1_000)
    with inplace_magic.watch() as watch:
        torch.from_numpy(array[0]).mul_(factor)
        if filled:
            array[0] = 7
        torch.from_numpy(array[0]).sum()
    first, second = (storage for storage in trace_of(watch).storages if storage.foreign)
    assert second.follows == (first.storage if again else None)


def test_of_two_lines_that_may_have_written_none_is_blamed() -> None:
    frame = np.ones(2, dtype=np.float32)
    left, right = frame[:1], frame[1:]
    x = torch.from_numpy(frame)
    with inplace_magic.watch() as watch:
        x.mul(1)
        left += 0
        right *= 3
        x.mul(2)
    assert [foreign.callsite for foreign in trace_of(watch).foreign] == [None]


def test_of_two_lines_that_write_one_array_the_first_is_named() -> None:
    frame = np.ones(2, dtype=np.float32)
    x = torch.from_numpy(frame)
    with inplace_magic.watch() as watch:
        x.mul(1)
        frame += 1
        frame *= 3
        x.mul(2)
    (foreign,) = trace_of(watch).foreign
    assert foreign.callsite is not None
    assert foreign.callsite.text.strip() == "frame += 1"


def test_a_replay_memory_is_not_read_around_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two hundred frames from NumPy only a few are read at a call, however long the memory grows."""
    read: list[int] = []
    digest = witness.digest_bytes

    def counted(pointer: int, nbytes: int) -> int:
        read.append(nbytes)
        return digest(pointer, nbytes)

    monkeypatch.setattr(witness, "digest_bytes", counted)
    arrays = [np.full(4, i, dtype=np.float32) for i in range(200)]
    with inplace_magic.watch() as watch:
        frames = [torch.from_numpy(array) for array in arrays]
        for frame in frames:
            frame.mul(1)
        read.clear()
        torch.ones(2).mul(2)
        assert len(read) <= 2 * 2 * (witness.AT_ONCE + 1)
    assert trace_of(watch).foreign == ()


@pytest.mark.parametrize("used_by", ["call", "backward", "end"])
def test_a_write_to_memory_that_is_looked_at_seldom_is_noticed_without_its_line(used_by: str) -> None:
    arrays = [np.full(4, i, dtype=np.float32) for i in range(40)]
    leaf = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        frames = [torch.from_numpy(array) for array in arrays]
        for frame in frames:
            frame.mul(1)
        frames[0].mul_(3)  # by torch: no foreign write, and from here it is looked at often
        torch.stack(frames[20:])
        arrays[3][0] = -1
        if used_by == "call":
            frames[3].mul(1)
        elif used_by == "backward":
            leaf.exp().sum().backward()
    (foreign,) = trace_of(watch).foreign
    assert foreign.callsite is None
    assert foreign.storage == trace_of(watch).calls[3].inputs[0].storage


def test_large_shared_memory_is_not_read_unless_asked_and_the_report_says_so() -> None:
    frame = np.ones(witness.SHARED_LIMIT, dtype=np.float32)
    x = torch.from_numpy(frame)
    for check, seen in ((False, 0), (True, 1)):
        with inplace_magic.watch(check_values=check) as watch:
            x.sum()
            frame += 1
            x.sum()
        assert len(trace_of(watch).foreign) == seen
        assert any("too large to be checked" in line for line in report_of(watch).blindness) is not check


def test_a_small_saved_tensor_is_compared_when_backward_begins() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        y = x.exp()
        y.data.mul_(2)
        y.sum().backward()
    saved = saved_by(watch, "ExpBackward0")["result"]
    assert (saved.checked, saved.changed) == (True, call_of(watch, "Tensor.backward").index)


def test_a_saved_tensor_that_was_moved_and_put_back_differs_only_in_between() -> None:
    x = torch.ones(2, requires_grad=True)
    other = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        y = x.exp()
        before = y.data.clone()
        y.data.mul_(2)
        other.sum().backward()
        y.data.copy_(before)
        other.sum().backward()
        y.sum().backward()
    saved = saved_by(watch, "ExpBackward0")["result"]
    first, second, third = (backward.call for backward in trace_of(watch).backwards if backward.roots)
    assert (saved.changed, saved.flips) == (first, (second,))
    differs = [saved.differs_at(call) for call in (first - 1, first, second, third, None)]
    assert differs == [False, True, False, False, False]
    assert report_of(watch).hazards == []


def test_finite_differences_move_an_input_and_put_it_back() -> None:
    class Sinh(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            grows, shrinks = x.exp(), (-x).exp()
            ctx.save_for_backward(grows, shrinks)
            return (grows - shrinks) / 2, grows, shrinks

        @staticmethod
        def backward(ctx, grad, grad_grows, grad_shrinks):
            grows, shrinks = ctx.saved_tensors
            return grad * (grows + shrinks) / 2 + grad_grows * grows - grad_shrinks * shrinks

    x = torch.rand(3, dtype=torch.double, requires_grad=True)
    with inplace_magic.watch() as watch:
        assert torch.autograd.gradcheck(lambda x: Sinh.apply(x)[0], x)
        assert torch.autograd.gradgradcheck(lambda x: Sinh.apply(x)[0], x)
    assert report_of(watch).hazards == []


def test_a_saved_tensor_that_kept_its_values_is_not_called_changed() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        y = x.exp()
        y.data.mul_(1)
        y.sum().backward()
    saved = saved_by(watch, "ExpBackward0")["result"]
    assert (saved.checked, saved.changed) == (True, None)
