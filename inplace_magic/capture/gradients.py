"""The gradients of leaves around a run of backward, which no call at level ``calls`` shows being written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.records import StorageRecord, TensorRecord
from inplace_magic.capture.torch import describe
from inplace_magic.record.autograd import AddedTo


class Before(NamedTuple):
    """A leaf as backward begins."""

    leaf: TensorRecord
    storage: StorageRecord | None
    """Of its gradient; None where it has none yet."""
    version: int | None


def gradients_before(leaves: Iterable[TensorRecord], identity: IdentityMap) -> list[Before]:
    """What gradients the leaves have as backward begins."""
    found = []
    for record in leaves:
        leaf = record()
        if leaf is None:
            continue
        gradient = describe.gradient(leaf)
        if gradient is None:
            found.append(Before(record, None, None))
        else:
            found.append(Before(record, identity.storage_of(gradient), describe.version(gradient)))
    return found


def gradients_written(before: Iterable[Before], identity: IdentityMap, call: int) -> tuple[AddedTo, ...]:
    """The gradients that backward added to. The memory of those that it made is billed to its call."""
    added = []
    for record, storage, version in before:
        leaf = record()
        gradient = describe.gradient(leaf) if leaf is not None else None
        if gradient is None:
            continue
        now = identity.storage_of(gradient, call)
        if storage is not None and now is storage and describe.version(gradient) != version:
            added.append(AddedTo(record.serial, storage.serial))
    return tuple(added)
