"""Loops: each pass of one whose entries are known, else two passes."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from inplace_magic.postmortem.flow.assigning import assign
from inplace_magic.postmortem.flow.machine import Machine
from inplace_magic.postmortem.flow.modules import listed
from inplace_magic.postmortem.flow.values import UNKNOWN, Constant, Live, Tensors, Value, parts
from inplace_magic.postmortem.reading import is_a

_MOST_PASSES, _FEWEST_PASSES = 100, 3
"""Of a loop, and of one that is deep inside of others: each level has a fifth of the passes."""


def follow_for(machine: Machine, node: ast.For | ast.AsyncFor) -> None:
    """Goes through a ``for`` loop; up to the pass that failed, where the loop's variable tells it."""
    value = machine.evaluate(node.iter)
    entries = entries_of(machine, value)
    passes: list[Value] = entries if entries is not None else [UNKNOWN, UNKNOWN]
    exact = (
        entries is not None
        and is_counted(machine, value)
        and not any(isinstance(each, (ast.Break, ast.Return)) for each in ast.walk(node))
    )
    if _fails_inside(machine, node):
        last = _pass_of(machine, node, passes)
        exact = exact and last is not None
        passes = passes if last is None else passes[: last + 1]
    most = max(_FEWEST_PASSES, _MOST_PASSES // 5**machine.loops)
    if len(passes) > most:
        passes, exact = [*passes[: most - 1], passes[-1]], False
    once = machine.once
    machine.once = once and exact
    machine.loops += 1
    for entry in passes:
        assign(machine, node.target, entry if entry is not UNKNOWN else machine.fresh())
        if machine.execute(node.body) in ("return", "raise", "break"):
            break
    machine.loops -= 1
    machine.once = once
    machine.execute(node.orelse)


def _fails_inside(machine: Machine, node: ast.For | ast.AsyncFor) -> bool:
    """True if the line that raised can lie in the loop, or in what it calls."""
    failing = machine.failing
    if failing is None or failing.filename != machine.frame.filename or failing.function != machine.frame.function:
        return True
    return node.lineno <= failing.line <= (node.end_lineno or node.lineno)


def _pass_of(machine: Machine, node: ast.For | ast.AsyncFor, passes: list[Value]) -> int | None:
    """Return the pass in which a loop stands, told by what its variable is now; None where that is open."""
    target, live = node.target, machine.frame.env.live
    if live is None:
        return None
    paths: list[tuple[ast.expr, list[Value]]] = [(target, passes)]
    if isinstance(target, ast.Tuple):
        rows = [machine.items_of(entry) for entry in passes]
        paths = [
            (each, [row.entries[at] if row is not None and at < len(row.entries) else UNKNOWN for row in rows])
            for at, each in enumerate(target.elts)
        ]
    for name, values in paths:
        now = live.get(name.id) if isinstance(name, ast.Name) else None
        if type(now) in (int, str):
            same = [
                at
                for at, value in enumerate(values)
                if isinstance(value, Constant) and value.known and type(value.value) is type(now) and value.value == now
            ]
            if len(same) == 1:
                return same[0]
    return 0 if passes and _counts_from_zero(node, live) else None


def _counts_from_zero(node: ast.For | ast.AsyncFor, live: Mapping[str, object]) -> bool:
    """True if a loop over what is not known counts its passes, and stands at the first."""
    if not isinstance(node.iter, ast.Call) or not isinstance(node.iter.func, ast.Name):
        return False
    counted, target = node.iter.func.id, node.target
    if counted == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    elif counted != "range":
        return False
    starts = len(node.iter.args) > 1 or bool(node.iter.keywords)
    now = live.get(target.id) if isinstance(target, ast.Name) else None
    return not starts and type(now) is int and now == 0


def follow_while(machine: Machine, node: ast.While) -> None:
    """Goes through a ``while`` loop twice."""
    once, machine.once = machine.once, False
    machine.loops += 1
    for _pass in range(2):
        machine.evaluate(node.test)
        if machine.execute(node.body) in ("return", "raise", "break"):
            break
    machine.loops -= 1
    machine.once = once


def evaluated(machine: Machine, nodes: list[ast.expr]) -> list[Value]:
    """Return the values of some expressions; for a starred one those of its entries."""
    found: list[Value] = []
    for each in nodes:
        value = machine.evaluate(each)
        found += (entries_of(machine, value) if isinstance(each, ast.Starred) else None) or [value]
    return found


def is_counted(machine: Machine, value: Value) -> bool:
    """True if all that a loop over a value goes through is known."""
    return bool(listed(value)) or machine.items_of(value) is not None


def entries_of(machine: Machine, value: Value) -> list[Value] | None:
    """What a loop over a value goes through, where it is known."""
    found: list[Value] = []
    for part in parts(value):
        items = machine.items_of(part)
        if items is not None:
            is_dict = items.keys is not None and (not isinstance(part, Live) or is_a(part.thing, dict))
            found += [Constant(key) for key in items.keys or ()] if is_dict else items.entries
        elif isinstance(part, Tensors):
            found += [Tensors(part.memories, part.through or "view")] * 2
        else:
            modules = listed(part)
            if not modules:
                return None
            found += modules
    return found
