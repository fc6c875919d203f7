"""The autograd nodes of a trace: what each backward went through, and what one may still go through."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter

from inplace_magic.analysis.accesses import Accesses
from inplace_magic.analysis.remembered import remembered
from inplace_magic.record.autograd import AutogradNode, Backward
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.grouped import grouped

_TENSOR = attrgetter("tensor")


@dataclass(frozen=True)
class Backwards(Accesses):
    """The nodes of a trace and the backwards through them, indexed; each index is made when it is first asked for."""

    @cached_property
    def calls(self) -> dict[int | None, CallEvent]:
        """By index; none by None, so that an unknown one may be asked for."""
        return {call.index: call for call in self.trace.calls}

    @cached_property
    def nodes(self) -> dict[int | None, AutogradNode]:
        """By number, or None, as :attr:`calls`."""
        return {node.node: node for node in self.trace.nodes}

    @cached_property
    def backwards(self) -> dict[int, Backward]:
        return {backward.call: backward for backward in self.trace.backwards}

    @cached_property
    def observations(self) -> dict[int | None, TensorMetadata]:
        """The last observation of every tensor; none of None."""
        groups = [group for call in self.trace.calls for group in (call.inputs, call.outputs, call.mutated)]
        met = [*chain.from_iterable(groups)]
        return dict(zip(map(_TENSOR, met), met, strict=True))

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """The nodes that come right before a node in backward."""
        return grouped((behind, node.node) for node in self.trace.nodes for behind in node.next if behind is not None)

    def reached(self, roots: Iterable[int]) -> set[int]:
        """Return the nodes that backward from `roots` can come to."""
        nodes = self.nodes
        known = (root for root in roots if root in nodes)
        return closure(known, lambda number: [behind for behind in nodes[number].next if behind in nodes])

    def reached_by(self, backward: int) -> set[int]:
        """Return the nodes that a backward can come to from its roots; none of any other call."""
        return self.reached(self.backwards[backward].roots) if backward in self.backwards else set()

    def descendants(self, nodes: set[int]) -> set[int]:
        """Return the nodes from which backward comes to one of `nodes`, themselves included."""
        return closure(nodes, lambda number: self.users.get(number, ()))

    @cached_property
    def _nodes_of(self) -> dict[int, list[int]]:
        """The nodes that stand for a tensor: that of a leaf, and the last one behind its ``grad_fn``."""
        leaves = ((leaf, node) for leaf, nodes in self._nodes_of_leaf.items() for node in nodes)
        others = ((meta.tensor, meta.node) for meta in self.observations.values() if meta.node is not None)
        return grouped((*leaves, *others))

    @cached_property
    def backwards_run(self) -> list[int]:
        """The successful backwards, by call index, oldest first."""
        made = ((index, self.calls.get(index)) for index in self.backwards)
        return sorted(index for index, call in made if call is not None and call.error is None)

    @remembered
    def went_through(self, backward: int | None) -> set[int]:
        """Return the nodes that a successful backward went through; none of any other call. With ``inputs=`` only what
        leads to them counts. Each is walked when it is first asked about, as few of a loop's thousands are."""
        call = self.calls.get(backward) if backward in self.backwards else None
        return self.would_go_through(call.index) if call is not None and call.error is None else set()

    def would_go_through(self, backward: int) -> set[int]:
        """Return the nodes that a backward can come to, one that failed as well. With ``inputs=`` the walk goes on from
        those, through the nodes of this graph alone: a parameter has users in every graph of a long run."""
        asked = self.backwards[backward]
        nodes = self.reached(asked.roots)
        if asked.inputs is None:
            return nodes
        goals = [node for tensor in asked.inputs for node in self._nodes_of.get(tensor, ())]
        users = grouped((behind, number) for number in nodes for behind in self.nodes[number].next)
        return closure(goals, lambda number: users.get(number, ())) & nodes

    @cached_property
    def ran_through(self) -> dict[int, list[int]]:
        """The successful backwards that went through a node, by call index, oldest first."""
        return grouped((node, index) for index in self.backwards_run for node in self.went_through(index))

    def came_to_leaf(self, leaf: int) -> list[int]:
        """Return the successful backwards that came to a leaf tensor, by call index, oldest first."""
        return sorted({index for node in self._nodes_of_leaf.get(leaf, ()) for index in self.ran_through.get(node, ())})

    @cached_property
    def _nodes_of_leaf(self) -> dict[int, list[int]]:
        return grouped((node.variable, node.node) for node in self.trace.nodes if node.variable is not None)

    def another_backward_is_meant(self, node: AutogradNode, wrote: int, *, is_parameter: bool) -> bool:
        """True if somebody will still run backward through `node`, as far as the watch can tell.

        After a backward with ``retain_graph`` only a result that was not used yet can be meant. Otherwise none is,
        once another backward has run without this node: a forgotten ``pred = model(x)`` above a training loop. Where a
        parameter was written, a training step that began after its save counts as well.
        """
        ran = self.ran_through.get(node.node)
        if ran:
            return self._used_by_another(node.node, tuple(ran))
        saved_at = node.call if node.call is not None else -1
        return not self.backwards_run or (saved_at if is_parameter else wrote) >= self.backwards_run[-1]

    def _used_by_another(self, start: int, ran: tuple[int, ...]) -> bool:
        """True if a node lies behind one that is alive and that the backwards `ran` did not use.

        What no call made, those backwards made themselves with ``create_graph``: it is let go with the gradients. The
        walk goes up, and what it learns of the nodes on its way serves the next one: of a long graph, each node is
        visited once.
        """
        used, known = self._another(ran)
        came_from: dict[int, int | None] = {start: None}
        todo = [start]
        while todo:
            here: int | None = todo.pop()
            assert here is not None
            known_here = known.get(here)
            node = self.nodes[here]
            unused = here not in used and node.ended is None and node.call is not None
            if known_here or (known_here is None and unused):
                while here is not None:
                    known[here] = True
                    here = came_from[here]
                return True
            if known_here is None:
                fresh = [user for user in self.users.get(here, ()) if user not in came_from]
                came_from.update(dict.fromkeys(fresh, here))
                todo += fresh
        known.update(dict.fromkeys(came_from, False))
        return False

    @remembered
    def _another(self, ran: tuple[int, ...]) -> tuple[set[int], dict[int, bool]]:
        """Return the nodes that some backwards used, and what is known of others by then."""
        return set().union(*map(self.went_through, ran)), {}

    def has_live_scalar(self, node: AutogradNode) -> bool:
        """True if a single number, such as a loss, that was computed by way of `node` is still alive."""
        return node.node in self._behind_live_scalars

    @cached_property
    def _behind_live_scalars(self) -> set[int]:
        shaped = (meta for meta in self.observations.values() if meta.shape is not None)
        numbers = {meta.node for meta in shaped if math.prod(meta.shape or ()) == 1}
        return self.reached(number for number in numbers if number is not None and self.nodes[number].ended is None)


def closure(starts: Iterable[int], after: Callable[[int], Iterable[int | None]]) -> set[int]:
    """Return the numbers to which one comes from `starts`, themselves included, from each to those `after` it."""
    seen: set[int] = set()
    todo: list[int | None] = list(starts)
    while todo:
        number = todo.pop()
        if number is not None and number not in seen:
            seen.add(number)
            todo.extend(after(number))
    return seen
