"""The names of one trace, indexed: by what each function, each line and the user's namespace know a tensor.

And rebindings: lines after which a name points to another tensor. Nothing is written; beginners take it for in-place.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import attrgetter

from inplace_magic.analysis.naming.aliases import Aliases
from inplace_magic.analysis.naming.bindings import Bindings
from inplace_magic.record.events import CallEvent
from inplace_magic.record.grouped import grouped, grouped_by
from inplace_magic.record.names import Holding, KeptByHook, LocalName, TensorName
from inplace_magic.record.places import Callsite, Whose
from inplace_magic.record.trace import Trace
from inplace_magic.source import expressions
from inplace_magic.source.expressions import operands_given
from inplace_magic.source.spots import Top, names_in, run_once, tops


@dataclass(frozen=True, slots=True)
class Rebinding:
    """After ``x = conv(x)`` the name ``x`` points to another tensor; the old one is as it was."""

    call: int
    """Index of the call whose result the name got."""
    name: str
    before: int
    """Serial number of the tensor that the name pointed to."""
    after: int


@dataclass(frozen=True)
class KnownNames:
    """What is known of the names in a trace, each part made when it is first asked for."""

    trace: Trace

    @cached_property
    def bindings(self) -> Bindings:
        return Bindings.from_trace(self.trace, self.names, self._inner_names)

    @cached_property
    def rebindings(self) -> tuple[Rebinding, ...]:
        """Every rebinding that could be told, in the order in which they happened."""
        return rebindings(self.trace, self.bindings)

    @cached_property
    def aliases(self) -> Aliases:
        """The second names."""
        return Aliases(self.trace, self.bindings)

    @cached_property
    def names(self) -> dict[int, list[str]]:
        """Every name by which the user's namespace reaches a tensor, by tensor."""
        entries: tuple[TensorName | LocalName, ...] = (*self.trace.names, *self._inner_names)
        named = grouped((entry.tensor, entry.name) for entry in entries)
        return {tensor: list(dict.fromkeys(names)) for tensor, names in named.items()}

    @cached_property
    def _inner_names(self) -> list[LocalName]:
        """Those of functions that ran once."""
        return names_in(self.trace, self.run_once) if self.trace.local_names else []

    @cached_property
    def best_names(self) -> dict[int, str]:
        """The best display name of every tensor that has one."""
        met = {meta.tensor for call in self.trace.calls for meta in (*call.inputs, *call.outputs, *call.mutated)}
        return {tensor: name for tensor in sorted(met) if (name := self.bindings.name(tensor)) is not None}

    @cached_property
    def local_names(self) -> dict[tuple[Whose, int], list[str]]:
        """The names by which each function reached a tensor, by function and tensor."""
        return grouped(((local.whose, local.tensor), local.name) for local in self.trace.local_names)

    @cached_property
    def holdings(self) -> dict[int, list[Holding]]:
        """What was seen to hold the tensors that a call wrote, or read after that, by the call."""
        return grouped_by(attrgetter("call"), self.trace.holdings)

    @cached_property
    def holdings_of(self) -> dict[int, list[Holding]]:
        """The same by tensor."""
        return grouped_by(attrgetter("tensor"), self.trace.holdings)

    @cached_property
    def kept_by_hooks(self) -> dict[int, list[KeptByHook]]:
        """What containers of forward hooks held, by the call that wrote it."""
        return grouped_by(attrgetter("write"), self.trace.kept_by_hooks)

    @cached_property
    def run_once(self) -> dict[Whose, Callsite]:
        """The functions whose lines ran by themselves and once, and a place in each."""
        return run_once(self.trace)

    @cached_property
    def tops(self) -> list[Top]:
        """The lines of :attr:`run_once`."""
        return tops(self.trace, self.run_once)


def rebindings(trace: Trace, bindings: Bindings) -> tuple[Rebinding, ...]:
    """Return every rebinding that could be told, in the order in which they happened.

    Names are followed through the assignments that the watch saw. What a name pointed to before its first assignment is
    told only where that assignment uses the name itself: as an operand of the call (``p = p - lr * grad``), or, in
    ``x = conv(x)``, where just one tensor without another name went in; anything else would be a guess. A function's
    names are new in each of its runs, and a trace does not tell the runs apart: there, both assignments must have one
    caller, and the second one must read what the first one gave, or stand further down.
    """
    calls = {call.index: call for call in trace.calls}
    found: list[Rebinding] = []
    for (function, name), bound in bindings.scopes.items():
        before = _used(calls, bound[0][0], name, bindings)
        chain = bound if before is None else [(-1, before), *bound]
        for (first, old), (call, new) in pairwise(chain):
            sure = first < 0 or function == "<module>" or _in_one_run(calls, first, call, name, old)
            if old != new and sure:
                found.append(Rebinding(call, name, old, new))
    return tuple(sorted(found, key=lambda row: row.call))


def _used(calls: dict[int, CallEvent], index: int, name: str, bindings: Bindings) -> int | None:
    site = calls[index].callsite
    if site is None or not _mentions(site.expression, name):
        return None
    if site.direct:
        return _operand(calls[index], site.expression, name)
    while index - 1 in calls and calls[index - 1].callsite == site:
        index -= 1
    nameless = {given.tensor for given in calls[index].inputs if bindings.name(given.tensor) in (None, name)}
    before = nameless.pop() if len(nameless) == 1 else None
    made = bindings.made_at.get(before) if before is not None else None
    return None if made is not None and made.line == site.line else before


def _operand(call: CallEvent, expression: str, name: str) -> int | None:
    """Return the tensor that the call got for an operand that is this name; None where operands and tensors do not pair
    up."""
    pairs = operands_given(call)
    if pairs is None and call.does("method") and isinstance(expressions.parse(expression), ast.Call):
        pairs = list(zip(call.inputs[:1], expressions.operands(expression, method=True), strict=False))
    return next((meta.tensor for meta, node in pairs or () if isinstance(node, ast.Name) and node.id == name), None)


def _in_one_run(calls: dict[int, CallEvent], first: int, second: int, name: str, old: int) -> bool:
    before, after = calls[first].callsite, calls[second].callsite
    if before is None or after is None or before.caller != after.caller:
        return False
    if after.line > before.line:
        return True
    if not _mentions(after.expression, name):
        return False
    between = (calls[index] for index in range(first + 1, second + 1) if index in calls)
    return any(any(given.tensor == old for given in call.inputs) and call.callsite == after for call in between)


@lru_cache(maxsize=4096)
def _mentions(expression: str, name: str) -> bool:
    return expressions.mentions(expressions.parse(expression), name)
