"""A record that is filled the quick way is the record that its class makes."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import Access, CallEvent, Mutation, OpEvent, TensorMetadata
from inplace_magic.record.filled import filled
from inplace_magic.record.memory import Storage
from inplace_magic.record.names import AliasStatement

KINDS = (Access, AliasStatement, AutogradNode, CallEvent, Mutation, OpEvent, SavedTensor, Storage, TensorMetadata)


@pytest.mark.parametrize("kind", KINDS)
def test_a_filled_record_is_one_of_its_class_and_equal_to_what_that_makes(kind: Any) -> None:
    values = tuple(range(len(fields(kind))))
    known, found = kind(*values), filled(kind)(*values)
    assert type(found) is kind
    assert (found, hash(found), repr(found)) == (known, hash(known), repr(known))
    assert pickle.loads(pickle.dumps(found)) == known


def test_what_is_not_given_has_the_default_of_the_class() -> None:
    found = filled(TensorMetadata)(1, 2, requires_grad=True)
    assert found == TensorMetadata(1, 2, requires_grad=True)
    assert found.is_trainable


def test_a_filled_record_is_frozen() -> None:
    found: Any = filled(Access)(1, "READ")
    with pytest.raises(FrozenInstanceError):
        found.tensor = 2
