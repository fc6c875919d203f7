"""The runs of Paddle's backward: from where, to which leaves, and what they leave behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.calls import Call
from inplace_magic.capture.paddle.gradients import Before, Gradients
from inplace_magic.capture.paddle.identity import (
    NODE,
    RECORD,
    REQUIRES_GRAD,
    IdentityMap,
    Observation,
    TensorRecord,
)
from inplace_magic.capture.paddle.nodes import NodeMap
from inplace_magic.record.autograd import Backward


class _Running(NamedTuple):
    call: Call
    backward: Backward
    reached: set[int]
    """Numbers of the nodes to which it comes."""
    gradients: Before


class Backwards:
    """Collects them."""

    def __init__(
        self, identity: IdentityMap, nodes: NodeMap, gradients: Gradients, look: Callable[[Any], Observation]
    ) -> None:
        self._identity, self._nodes, self._gradients, self._look = identity, nodes, gradients, look
        self.done: list[Backward] = []
        self.released: set[int] = set()
        """Nodes that a backward has been through without ``retain_graph``."""
        self._running: list[_Running] = []

    def begin(self, call: Call, args: tuple[Any, ...]) -> None:
        """Notes a run that is about to begin."""
        roots = describe.tensors_in(args[:1], [])
        partial = call.facts.operation == "grad"
        asked = describe.tensors_in(args[1:2], []) if partial else None
        retain = args[3] if partial and len(args) > 3 else args[2] if len(args) > 2 else False
        numbers = tuple(seen[NODE] for tensor in roots if (seen := self._look(tensor))[NODE] is not None)
        backward = Backward(
            call=call.index,
            roots=tuple(number for number in numbers if number is not None),
            inputs=None if asked is None else tuple(self._look(tensor)[RECORD].serial for tensor in asked),
            retain_graph=bool(retain),
        )
        reached = self._nodes.reached(backward.roots)
        leaves = () if partial else self._leaves(reached)
        self._running.append(_Running(call, backward, reached, self._gradients.before(leaves)))

    def end(self, call: Call, error: BaseException | None) -> None:
        """Notes how a run ended."""
        while self._running:
            running = self._running.pop()
            if running.call is call:
                backward = running.backward
                if error is not None or not backward.retain_graph:
                    self.released |= running.reached
                if error is None and not backward.retain_graph:
                    self._nodes.let_go(running.reached)
                added = self._gradients.added_to(running.gradients, call.index)
                self.done.append(Backward(backward.call, backward.roots, backward.inputs, backward.retain_graph, added))
                return

    def _leaves(self, reached: set[int]) -> list[TensorRecord]:
        records = self._nodes.records
        wanted = {records[number - 1].variable for number in reached}
        known = self._identity.tensors.values()
        return [
            record
            for record in list(known)
            if record.serial in wanted and record.latest is not None and record.latest[REQUIRES_GRAD]
        ]
