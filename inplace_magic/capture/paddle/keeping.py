"""What the nodes that a call has made keep for backward, by the table of saves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.calls import Call
from inplace_magic.capture.paddle.functions import OpFacts
from inplace_magic.capture.paddle.identity import IdentityMap, Observation
from inplace_magic.capture.paddle.nodes import NodeMap, NodeRecord
from inplace_magic.capture.paddle.saves import SAVES, kept_in
from inplace_magic.capture.paddle.traits import operation_of


def note_saves(
    call: Call, nodes: NodeMap, identity: IdentityMap, look: Callable[[Any], Observation], by_ctx: Sequence[Any] = ()
) -> bool:
    """Reads from the table what the new nodes of a call keep; False where the table does not know the operation.

    Args:
        call: the call, which has returned.
        by_ctx: what the running ``PyLayer.apply`` has kept by ``save_for_backward``.
    """
    node = _new_node(call, nodes)
    if node is None or node.saved:
        return True
    if call.facts.operation == "apply":
        for index, tensor in enumerate(by_ctx):
            nodes.keep(node, f"saved[{index}]", look(tensor), guarded=False)
        return True
    slots = kept_in(call.facts.saves, call.arguments)
    if slots is None:
        return False
    for slot in slots:
        if slot == "hidden":
            if call.mutations and _clones_its_input(call.facts):
                seen = call.before[0]
                clone = identity.clone_of(seen.layout, call.index)
                nodes.keep_clone(node, "in0", seen, clone)
            continue
        if slot[0] == "o":
            for seen in call.outputs[int(slot[3:]) :][:1]:
                nodes.keep(node, slot, seen)
            continue
        position = int(slot[2:])
        for tensor in describe.tensors_in(call.arguments[position : position + 1], []):
            seen = _as_given(call, tensor) or look(tensor)
            if call.facts.keeps_as_it_lies or tensor.is_contiguous():
                nodes.keep(node, slot, seen)
            else:
                nodes.keep_clone(node, slot, seen, identity.clone_of(seen.layout, call.index))
    return True


def _clones_its_input(facts: OpFacts) -> bool:
    """True if the hidden memory is the input as it was: where the form that makes a new tensor keeps its input, and
    the form in place keeps nothing of the user's."""
    ordinary = SAVES.get(facts.operation.removesuffix("_"))
    return facts.saves == ("hidden",) and isinstance(ordinary, tuple) and ordinary == ("in0",)


def _new_node(call: Call, nodes: NodeMap) -> NodeRecord | None:
    """Return the node that a call made and that keeps something; of several, as ``linear`` makes them, the one whose
    own operation does."""
    records = nodes.records
    observed = call.outputs
    if call.mutations:
        observed = observed + [mutation.after for mutation in call.mutations]
    for seen in observed:
        number = seen.node
        if number is None or records[number - 1].call != call.index:
            continue
        first = records[number - 1]
        if number == len(records):
            return first
        for node in records[number - 1 :]:
            if node.call == call.index and SAVES.get(operation_of(node.name)):
                return node
        return first
    return None


def _as_given(call: Call, tensor: Any) -> Observation | None:
    """Return an input of a call that wrote nothing, as it was before the call."""
    if not call.mutations:
        for given, seen in zip(call.tensors, call.before, strict=True):
            if given is tensor:
                return seen
    return None
