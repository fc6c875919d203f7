"""Rebindings: lines after which a name points to another tensor. Nothing is written; beginners take it for in-place."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from inplace_magic.analysis.naming.bindings import Bindings
from inplace_magic.record.events import CallEvent
from inplace_magic.record.trace import Trace
from inplace_magic.source import expressions
from inplace_magic.source.expressions import operands_given


@dataclass(frozen=True, slots=True)
class Rebinding:
    """After ``x = conv(x)`` the name ``x`` points to another tensor; the old one is as it was."""

    call: int
    """Index of the call whose result the name got."""
    name: str
    before: int
    """Serial number of the tensor that the name pointed to."""
    after: int


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
