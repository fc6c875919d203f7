"""Autograd nodes: which call made them, what they save, how they hang together.

An autograd node refuses weak references, but its ``metadata`` dict lives and dies with it: a token of ours in that dict is the
node's identity, and a weak reference to the token tells when the node dies. No node is held beyond the call.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from inplace_magic.capture import describe
from inplace_magic.capture.identity import CounterRecord, IdentityMap
from inplace_magic.trace import AutogradNode, SavedTensor

_KEY = "inplace_magic"


class _Token:
    __slots__ = ("__weakref__", "node", "owner")

    def __init__(self, owner: object, node: int) -> None:
        self.owner = owner
        self.node = node


class _NodeRecord:
    __slots__ = ("call", "ended", "name", "next", "ref", "saved", "sequence", "variable")

    def __init__(self, name: str, sequence: int | None, call: int | None) -> None:
        self.name = name
        self.sequence = sequence
        self.call = call
        self.next: tuple[int | None, ...] = ()
        self.variable: int | None = None
        self.ended: int | None = None
        self.saved: list[SavedTensor] = []
        self.ref: Any = None


class NodeMap:
    """Gives autograd nodes serial numbers and reads what they save, once, right after the call that made them.

    Args:
        identity: for the tensors that nodes save.
        clock: how many calls have begun; noted when a node dies.
    """

    def __init__(self, identity: IdentityMap, clock: Callable[[], int]) -> None:
        self._identity = identity
        self._clock = clock
        self._records: list[_NodeRecord] = []
        self._first_sequence = describe.sequence_number()

    def known(self, grad_fn: Any) -> int | None:
        """The number of a node seen before."""
        token = grad_fn.metadata.get(_KEY)
        return token.node if token is not None and token.owner is self else None

    def number(self, grad_fn: Any, call: int | None, since: int | None = None) -> int:
        """The number of a node; it and every unknown node behind it are read.

        Args:
            grad_fn: the node.
            call: index of the call that just returned, None when none did.
            since: autograd sequence number at that call's start; nodes older than that were not made by it.
        """
        found = self.known(grad_fn)
        if found is not None:
            return found
        result = self._add(grad_fn, call, since)
        todo = [grad_fn]
        while todo:
            node = todo.pop()
            edges: list[int | None] = []
            for behind, _ in node.next_functions:
                if behind is None:
                    edges.append(None)
                    continue
                number = self.known(behind)
                if number is None:
                    number = self._add(behind, call, since)
                    todo.append(behind)
                edges.append(number)
            record = self._records[node.metadata[_KEY].node - 1]
            record.next = tuple(edges)
        return result

    def _add(self, node: Any, call: int | None, since: int | None) -> int:
        sequence = describe.node_sequence(node)
        made_now = call is not None and (sequence is None or since is None or sequence >= since)
        record = _NodeRecord(describe.node_name(node), sequence, call if made_now else None)
        self._records.append(record)
        number = len(self._records)
        token = _Token(self, number)
        clock = self._clock

        def on_death(_: Any) -> None:
            record.ended = clock()

        record.ref = weakref.ref(token, on_death)
        node.metadata[_KEY] = token
        if record.name == "AccumulateGrad":
            record.variable = self._identity.register(node.variable).serial
        for name, data, hooked in describe.saved_values(node):
            record.saved.append(self._saved(number, name, data, hooked, sequence, made_now))
        return number

    def _saved(
        self, node: int, name: str, data: torch.Tensor | None, hooked: bool, sequence: int | None, made_now: bool
    ) -> SavedTensor:
        if data is None:
            return SavedTensor(node, name, hooked=hooked)
        record = self._identity.get(data)
        storage = record.storage if record is not None else self._identity.storage_of(data)
        counter = record.counter if record is not None else self._identity.counter_of(data, storage)
        facts = describe.facts(data)
        return SavedTensor(
            node=node,
            name=name,
            storage=storage.serial if storage is not None else None,
            counter=counter.serial if counter is not None else None,
            version=self._version_when_saved(describe.version(data), counter, sequence, made_now),
            tensor=record.serial if record is not None else None,
            shape=facts["shape"],
            strides=facts["strides"],
            offset=facts["offset"],
            dtype=facts["dtype"],
            device=facts["device"],
            nbytes=facts["nbytes"],
        )

    def _version_when_saved(
        self, now: int | None, counter: CounterRecord | None, sequence: int | None, made_now: bool
    ) -> int | None:
        """A node that the call just made saved the present version. One that is discovered late (a custom ``Function``'s) saved
        the version before the first write that came after its making; one from before the watch, unknown."""
        if made_now or now is None or now == 0:
            return now
        if sequence is None or sequence < self._first_sequence or counter is None:
            return None
        for at, before in counter.writes:
            if at > sequence:
                return before
        return now

    def frozen(self, pending: set[int]) -> tuple[tuple[AutogradNode, ...], tuple[SavedTensor, ...]]:
        """All nodes and saved tensors.

        Args:
            pending: what :meth:`close` gave.
        """
        nodes = tuple(
            AutogradNode(i, r.name, r.sequence, r.next, r.call, r.variable, r.ended, i in pending)
            for i, r in enumerate(self._records, start=1)
        )
        return nodes, tuple(entry for record in self._records for entry in record.saved)

    def close(self) -> set[int]:
        """Takes our tokens out of every node that a live tensor reaches, and gives the numbers of those nodes that still hold
        what they saved: backward would use them."""
        holding: set[int] = set()
        for record in self._records:
            record.ref = None
        seen: set[int] = set()
        todo = [fn for tensor, _ in self._identity.live() if (fn := describe.grad_fn(tensor)) is not None]
        while todo:
            node = todo.pop()
            token = node.metadata.pop(_KEY, None)
            if token is None or token.owner is not self or token.node in seen:
                continue
            seen.add(token.node)
            if describe.still_saves(node):
                holding.add(token.node)
            todo.extend(behind for behind, _ in node.next_functions if behind is not None)
        return holding

