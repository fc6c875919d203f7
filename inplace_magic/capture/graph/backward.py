"""What a run of the autograd engine was asked for, and to which gradients of leaves it added: no call at level
``calls`` shows these being written. And the nodes that another run would use: those reached from a live tensor that
still hold what they saved."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.records import KEY, NODE, UNREAD, VERSION, NodeRecord, StorageRecord, TensorRecord, saved_by
from inplace_magic.capture.torch import describe, describe_nodes, unpacking
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


def pending_nodes(nodes: NodeMap, identity: IdentityMap, *, forget: bool) -> set[int]:
    """Return the numbers of those nodes, reached from a live tensor, that still hold what they saved: backward would
    use them. Not those behind which a backward has been already and let go of what it used: another one will raise.

    Args:
        forget: also take our tokens out of the nodes; at the end of the watch.
    """
    holding: dict[int, int] = {}  # our number by id
    users: dict[int, list[int]] = {}
    spent: list[int] = []
    strangers = 0
    nodes.bury()
    met: dict[int, Any] = {}  # by id; holding the nodes keeps the ids theirs
    todo: list[Any] = []
    for tensor, record in identity.live():
        todo.append(describe.grad_fn(tensor) if _may_be_read(nodes, tensor, record) else None)
        gradient = describe.gradient(tensor)  # with `create_graph` it has a graph of its own
        todo.append(describe.grad_fn(gradient) if gradient is not None and not nodes.full else None)
    todo = [grad_fn for grad_fn in todo if grad_fn is not None]
    while todo:
        node = todo.pop()
        if id(node) in met:
            continue
        met[id(node)] = node
        token = node.metadata.get(KEY)
        if token is not None and token.owner is nodes:
            if _still_saves(node, token.record):
                holding[id(node)] = token.record.serial
            if forget:
                del node.metadata[KEY]
            if not token.record.next:
                continue  # nothing is behind it, or what is was left alone
        else:
            strangers += 1
            if nodes.are_too_many(strangers):
                continue
            wide = describe_nodes.node_name(node) in describe_nodes.OF_MANY
            if wide and describe_nodes.most_behind(node) > nodes.shallow:
                continue
        if _is_spent(node, token.record if token is not None and token.owner is nodes else None):
            spent.append(id(node))
        for behind, _ in node.next_functions:
            if behind is not None:
                users.setdefault(id(behind), []).append(id(node))
                todo.append(behind)
    while spent:
        key = spent.pop()
        holding.pop(key, None)
        spent += users.pop(key, ())
    if forget:
        token = None  # else this very frame would keep the last one alive
        _unmark_the_rest(nodes)
    return set(holding.values())


def _may_be_read(nodes: NodeMap, tensor: torch.Tensor, record: TensorRecord) -> bool:
    latest = record.latest
    if latest is None or latest[NODE] is None:
        return not nodes.full and _up_to_date(tensor, record)
    if latest[NODE] == UNREAD and nodes.unread:
        return False
    return _up_to_date(tensor, record)


def _unmark_the_rest(nodes: NodeMap) -> None:
    """Takes our tokens out of nodes that no tensor of ours leads to without a read that would change the graph.
    The garbage collector knows the ``metadata`` dicts that hold them; asked for the referrers of many tokens, it
    would compare every reference in the process with each of them. What the watch made is mostly still young: where
    that is all, the million old objects of a process are not looked at."""
    left = {id(token): token for record in nodes.records if (token := record()) is not None}
    for generation in range(len(gc.get_count())):
        for holder in gc.get_objects(generation) if left else ():
            token = holder.get(KEY) if type(holder) is dict else None
            if token is not None and left.get(id(token)) is token:
                del holder[KEY], left[id(token)]


def _still_saves(node: Any, record: NodeRecord) -> bool:
    if not unpacking.NEEDED:
        return describe_nodes.still_saves(node)
    return _was_read(record) and unpacking.still_saves(node)


def _is_spent(node: Any, record: NodeRecord | None) -> bool:
    """As :func:`describe_nodes.is_spent`. Where PyTorch shows what a node keeps by unpacking alone, one that was not
    read counts as spent if it may be: a finding about a backward that nobody can run would be false."""
    if unpacking.NEEDED and record is not None and _was_read(record):
        return not unpacking.still_saves(node)
    return describe_nodes.is_spent(node)


def _was_read(record: NodeRecord) -> bool:
    return any([layout is not None for *_, layout, _ in saved_by(record)])


def _up_to_date(tensor: torch.Tensor, record: TensorRecord) -> bool:
    """True if reading ``grad_fn`` changes nothing: not so for a view whose base was written since it was last read."""
    if not describe.is_view(tensor):
        return True
    version = describe.version(tensor)
    latest = record.latest
    read_at = latest[VERSION] if latest is not None and latest[NODE] not in (None, UNREAD) else None
    return version is not None and version in (read_at, record.used_at)
