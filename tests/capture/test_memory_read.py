"""What memory is read: that which a tensor has now, and which nobody but the host can be writing."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable

import pytest
import torch
from capture.watching import call_of

import inplace_magic
from inplace_magic.capture.torch import describe_memory


def on_another_thread(move: Callable[[], None]) -> None:
    thread = threading.Thread(target=move)
    thread.start()
    thread.join()


@pytest.mark.parametrize("old_memory", ["kept", "freed"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.full((3,), 3.0, dtype=torch.float64),
        lambda: torch.full((3,), 3, dtype=torch.int32),
        lambda: torch.full((3,), 3.0),
        lambda: torch.full((1,), 3.0),
        lambda: torch.full((2, 6), 3.0)[:, ::2],
    ],
    ids=["wider", "narrower", "same", "shorter", "with gaps"],
)
def test_the_values_before_a_write_are_those_of_the_memory_that_it_has_now(
    make: Callable[[], torch.Tensor], old_memory: str
) -> None:
    p, other = torch.ones(3), make()
    kept = p.data if old_memory == "kept" else None

    def move() -> None:
        p.data = other

    with inplace_magic.watch() as watch:
        p.add_(1)
        on_another_thread(move)
        p.mul_(2)
    del kept

    call = call_of(watch, "Tensor.mul_")
    count = other.numel()
    assert (call.mutations[0].values_before, call.mutations[0].values_after) == ((3,) * count, (6,) * count)
    for seen in (call.inputs[0], call.mutated[0]):
        assert (f"torch.{seen.dtype}", seen.shape) == (str(other.dtype), tuple(other.shape))
    assert call.inputs[0].storage == call.mutated[0].storage != call_of(watch, "Tensor.add_").mutated[0].storage


def test_what_is_saved_is_compared_where_it_lies_now() -> None:
    p = torch.ones(3, requires_grad=True)
    old = p.data

    def move() -> None:
        p.data = torch.full((3,), 3.0)

    with inplace_magic.watch() as watch:
        with torch.no_grad():
            p.add_(1)
        on_another_thread(move)
        loss = (p * p).sum()
        old.zero_()
        loss.backward()

    assert [hazard.code for hazard in watch.report.hazards if hazard.severity != "info"] == []


class _OnAGpu:
    """A storage of a device, whose address means nothing here."""

    device = torch.device("cuda:0")
    _cdata = 0

    def nbytes(self) -> int:
        return 16

    def data_ptr(self) -> int:
        return ctypes.addressof(ctypes.create_string_buffer(16))

    def resizable(self) -> bool:
        return True


@pytest.mark.parametrize("ask", [describe_memory.memory_in_use, describe_memory.settled_memory])
def test_memory_of_another_device_and_beyond_the_end_has_no_address_to_read(ask: Callable[..., int]) -> None:
    memory = torch.ones(4).untyped_storage()

    assert ask(_OnAGpu(), 0, 16) == 0
    assert (ask(memory, 0, 16), ask(memory, 8, 12)) == (memory.data_ptr(), 0)


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], torch.Tensor]:
    """Gives tensors of so many numbers in memory that torch cannot resize, and of which CUDA would say: pinned."""
    addresses: set[int] = set()

    def make(count: int) -> torch.Tensor:
        made = torch.frombuffer(bytearray(4 * count), dtype=torch.float32)
        addresses.add(made.data_ptr())
        return made

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.Tensor, "is_pinned", lambda tensor: tensor.data_ptr() in addresses)
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: False)  # there is no allocator to ask
    return make


def test_a_copy_that_reaches_pinned_memory_after_its_call_is_nobodys_write(
    pinned: Callable[[int], torch.Tensor],
) -> None:
    small, large = pinned(256), pinned(1 << 16)
    with inplace_magic.watch(check_values=True) as watch:
        small.copy_(torch.ones(256))  # its bytes arrive later, as with `non_blocking=True`
        large.copy_(torch.ones(1 << 16))
        small.numpy()
        ctypes.memset(small.data_ptr(), 0x3F, 1024)
        y = torch.ones(2, requires_grad=True) * 2
        torch.sigmoid(y + small[:2]).sum().backward()

    report = watch.report
    assert report.faults == []
    assert report.trace.foreign == ()
    assert not any(storage.foreign for storage in report.trace.storages)
    assert [sentence for sentence in report.blindness if "NumPy" in sentence] == []
    assert [hazard.code for hazard in report.hazards if hazard.severity != "info"] == []


def test_the_values_of_pinned_memory_are_unknown(pinned: Callable[[int], torch.Tensor]) -> None:
    small = pinned(3)
    with inplace_magic.watch() as watch:
        small.copy_(torch.ones(3))

    (mutation,) = call_of(watch, "Tensor.copy_").mutations
    assert (mutation.values_before, mutation.values_after) == (None, None)


def test_arrays_are_watched_as_ever_where_cuda_is_used(pinned: Callable[[int], torch.Tensor]) -> None:
    pinned(3)
    array = torch.zeros(3).numpy()
    shared = torch.from_numpy(array)
    with inplace_magic.watch() as watch:
        shared + 1
        array[0] = 5
        shared + 1

    (write,) = watch.report.trace.foreign
    assert write.callsite is not None
    assert write.callsite.text.strip() == "array[0] = 5"


def test_nobody_is_asked_about_pinned_memory_before_cuda_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "is_pinned", lambda tensor: pytest.fail("asked"))

    assert not describe_memory.is_pinned(torch.frombuffer(bytearray(8), dtype=torch.uint8).untyped_storage())
