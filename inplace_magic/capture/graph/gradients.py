"""The gradients of leaves around a run of backward, which no call at level ``calls`` shows being written."""

from __future__ import annotations

from collections.abc import Iterable

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.records import StorageRecord, TensorRecord
from inplace_magic.capture.torch import describe
from inplace_magic.record.autograd import AddedTo

Before = dict[TensorRecord, tuple[StorageRecord | None, int | None] | None]
"""By leaf, the memory and the version of its gradient; None where it has none yet."""


def gradients_before(leaves: Iterable[TensorRecord], identity: IdentityMap) -> Before:
    """What gradients the leaves have as backward begins."""
    found: Before = {}
    for record in leaves:
        leaf = record()
        gradient = describe.gradient(leaf) if leaf is not None else None
        known = None if gradient is None else (identity.storage_of(gradient), describe.version(gradient))
        found[record] = known
    return found


def gradients_written(before: Before, identity: IdentityMap, call: int) -> tuple[AddedTo, ...]:
    """Return the gradients that backward added to. The memory of those that it made is billed to its call."""
    added = []
    for record, known in before.items():
        leaf = record()
        gradient = describe.gradient(leaf) if leaf is not None else None
        if gradient is None:
            continue
        now = identity.storage_of(gradient, call)
        if known is None or now is None:
            continue
        storage, version = known
        if now is storage and describe.version(gradient) != version:
            added.append(AddedTo(record.serial, now.serial))
    return tuple(added)
