"""Which live storage has the memory at an address."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import inplace_magic
from inplace_magic.capture.addresses import AddressIndex
from inplace_magic.capture.records import StorageRecord
from inplace_magic.capture.torch import describe_memory

CPU = torch.device("cpu")


def record_of(tensor: torch.Tensor, serial: int) -> StorageRecord:
    untyped = tensor.untyped_storage()
    record = StorageRecord(untyped)
    record.serial, record.nbytes = serial, untyped.nbytes()
    return record


def index_of(tensors: list[torch.Tensor]) -> tuple[AddressIndex, list[StorageRecord]]:
    records = [record_of(tensor, serial) for serial, tensor in enumerate(tensors, 1)]
    index = AddressIndex()
    index.learn(reversed(records))
    return index, records


def test_every_byte_of_a_storage_is_its_own_and_no_other() -> None:
    tensors = [torch.ones(i + 1) for i in range(50)]
    index, records = index_of(tensors)
    for tensor, record in zip(tensors, records, strict=True):
        start = tensor.data_ptr()
        assert index.holder(start, CPU) is record
        assert index.holder(start + record.nbytes - 1, CPU) is record
        assert index.holder(start + record.nbytes, CPU) is not record
        assert index.holder(start, torch.device("meta")) is None


def test_what_came_later_is_learned_and_what_died_is_no_holder() -> None:
    tensors = [torch.ones(1000) for _ in range(5)]
    index, records = index_of(tensors[:3])
    late = record_of(tensors[3], 4)
    index.learn(iter((late, *reversed(records))))
    assert index.holder(tensors[3].data_ptr(), CPU) is late
    gone = tensors[1].data_ptr()
    del tensors[1]
    assert index.holder(gone, CPU) is None


def test_memory_that_moved_is_at_its_new_place_once_it_was_met() -> None:
    tensor = torch.ones(4)
    before = tensor.data_ptr()
    index, (record,) = index_of([tensor])
    tensor.untyped_storage().resize_(1 << 20)
    address = describe_memory.storage_address(tensor.untyped_storage())
    assert address is not None
    index.holder(before, CPU)
    assert index.holder(address, CPU) is record


@pytest.mark.parametrize("frames", [1, 300])
def test_two_tensors_on_one_array_are_on_one_storage_however_many_others_live(frames: int) -> None:
    arrays = [np.full(8, i, dtype=np.float32) for i in range(frames)]
    with inplace_magic.watch() as watch:
        others = [torch.from_numpy(array).mul(1) for array in arrays]
        first, second = torch.from_numpy(arrays[0]), torch.from_numpy(arrays[0][2:])
        first.mul(2)
        second.mul(3)
    assert len(others) == frames
    assert watch.report is not None
    one, two = (call.inputs[0].storage for call in watch.report.calls[-2:])
    assert one == two
