"""What a run of the autograd engine was asked for, and to which gradients of leaves it added: no call at level
``calls`` shows these being written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.records import NODE, UNREAD, VERSION, StorageRecord, TensorRecord
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.arguments import Keywords, tensors_in
from inplace_magic.capture.torch.functions import FunctionFacts
from inplace_magic.record.autograd import AddedTo, Backward

_BACKWARD_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "torch.autograd.backward": ("tensors", "grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs"),
    "Tensor.backward": ("self", "gradient", "retain_graph", "create_graph", "inputs"),
    "torch.autograd.grad": ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph"),
}


def backward_of(
    facts: FunctionFacts, index: int, args: tuple[Any, ...], kwargs: Keywords, identity: IdentityMap, nodes: NodeMap
) -> Backward:
    """Return the run that the call `index` is about to make."""
    named = dict(zip(_BACKWARD_PARAMETERS[facts.name], args, strict=False)) | dict(kwargs)
    first = named.get("tensors", named.get("outputs", named.get("self", ())))
    roots = [_root(tensor, identity, nodes) for tensor in tensors_in((first,), [])]
    inputs = named.get("inputs")
    asked = None if inputs is None else [identity.register(t).serial for t in tensors_in((inputs,), [])]
    retain = named.get("retain_graph")
    return Backward(
        call=index,
        roots=tuple(root for root in roots if root is not None),
        inputs=None if asked is None else tuple(asked),
        retain_graph=bool(named.get("create_graph")) if retain is None else bool(retain),
    )


def _root(tensor: torch.Tensor, identity: IdentityMap, nodes: NodeMap) -> int | None:
    """Return the node where backward begins; reading it is no harm, since backward itself does so next. Where no more
    nodes may be looked at, the one that was seen before."""
    if not nodes.full:
        grad_fn = describe.grad_fn(tensor)
        return None if grad_fn is None else nodes.number(grad_fn, None)
    record = identity.known(tensor)
    latest = record.latest if record is not None else None
    if latest is None or latest[VERSION] != describe.version(tensor) or latest[NODE] == UNREAD:
        return None
    return latest[NODE]


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
