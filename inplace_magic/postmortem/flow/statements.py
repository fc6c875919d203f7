"""Statements, followed one after the other: loops twice, branches side by side."""

from __future__ import annotations

import ast
import sys
from typing import Any

from inplace_magic.postmortem.flow.assigning import assign, augment
from inplace_magic.postmortem.flow.loops import follow_for, follow_while
from inplace_magic.postmortem.flow.machine import Machine
from inplace_magic.postmortem.flow.values import NOTHING, Class, Constant, Function, Live, Stop, Value, either
from inplace_magic.postmortem.reading import is_a
from inplace_magic.source.statements import defaults_of, is_at

_UNRECORDED = ("no_grad", "inference_mode")


def execute(machine: Machine, block: list[ast.stmt]) -> str | None:
    """Follows a block; ``return``, ``break``, ``continue`` or ``raise`` where it certainly ends with that."""
    for statement in block:
        machine.tick()
        ended = _statement(machine, statement)
        _look_for_the_failure(machine, statement)
        if ended is not None:
            return ended
    return None


def _look_for_the_failure(machine: Machine, statement: ast.stmt) -> None:
    failing = machine.failing or machine.doubted
    if failing is None or machine.frame.filename != failing.filename:
        return
    body = getattr(statement, "body", None)
    last = statement.end_lineno or statement.lineno
    if isinstance(body, list) and body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        last = body[0].lineno - 1
    elif not is_at(statement, failing.line, failing.column):
        return
    if statement.lineno <= failing.line <= last and machine.failing is None:
        machine.once = machine.sure = len(machine.frames) > 1  # of a cell itself, the rest may not have run
    elif statement.lineno <= failing.line <= last:
        machine.remember()
        if not machine.loops and machine.sure and len(machine.frames) == 1:
            raise Stop


def _statement(machine: Machine, node: ast.stmt) -> str | None:
    evaluate = machine.evaluate
    if isinstance(node, ast.Expr):
        evaluate(node.value)
    elif isinstance(node, ast.Assign):
        value = evaluate(node.value)
        for target in node.targets:
            assign(machine, target, value)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            assign(machine, node.target, evaluate(node.value))
    elif isinstance(node, ast.AugAssign):
        augment(machine, node)
    elif isinstance(node, ast.Return):
        machine.frame.returns.append(evaluate(node.value) if node.value is not None else NOTHING)
        return "return"
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        machine.frame.env.names[node.name] = _function(machine, node)
    elif isinstance(node, ast.ClassDef):
        live = machine.frame.env.live.get(node.name) if machine.frame.env.live is not None else None
        known: Value = Live(live) if is_a(live, type) else Class(node, machine.frame.filename, machine.frame.env)
        machine.frame.env.names[node.name] = known
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        _import(machine, node)
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        machine.frame.env.outer |= frozenset(node.names)
    elif isinstance(node, ast.If):
        decided = truth(evaluate(node.test))
        if decided is not None:
            return execute(machine, node.body if decided else node.orelse)
        return _sides(machine, [node.body, node.orelse])
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        follow_for(machine, node)
    elif isinstance(node, ast.While):
        follow_while(machine, node)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        return _with(machine, node)
    elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
        return _try(machine, node)
    elif isinstance(node, ast.Match):
        evaluate(node.subject)
        return _sides(machine, [case.body for case in node.cases] + [[]])
    elif isinstance(node, (ast.Assert, ast.Raise)):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                evaluate(part)
        return "raise" if isinstance(node, ast.Raise) else None
    elif isinstance(node, (ast.Break, ast.Continue)):
        return "break" if isinstance(node, ast.Break) else "continue"
    return None


def _function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
    values = {name: machine.evaluate(default) for name, default in defaults_of(node.args).items()}
    name = node.name if machine.frame.function == "<module>" else f"{machine.frame.function}.<locals>.{node.name}"
    recorded = not any(word in ast.unparse(each) for each in node.decorator_list for word in _UNRECORDED)
    made: Value = Function(node, machine.frame.filename, name, machine.frame.env, values, recorded=recorded)
    for decorator in reversed(node.decorator_list):
        wraps = machine.evaluate(decorator)
        if isinstance(wraps, Function):
            made = machine.apply(wraps, [made], {}, decorator)
    return made


def _import(machine: Machine, node: ast.Import | ast.ImportFrom) -> None:
    """The names of modules that are loaded; at the top of a file they stand in its names anyway."""
    if machine.frame.env.live is not None:
        return
    for alias in node.names:
        if isinstance(node, ast.Import):
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            found: Any = sys.modules.get(name)
        else:
            module = sys.modules.get(node.module or "")
            found = vars(module).get(alias.name) if module is not None else None
        if found is not None:
            machine.frame.env.names[alias.asname or alias.name.partition(".")[0]] = Live(found)


def truth(value: Value) -> bool | None:
    """True if it is true; None where that is open."""
    if isinstance(value, Constant) and value.known:
        return bool(value.value)
    return None


def _sides(machine: Machine, blocks: list[list[ast.stmt]]) -> str | None:
    """Branches of which nobody knows which one ran."""
    before, heap = dict(machine.frame.env.names), dict(machine.heap)
    once, sure = machine.once, machine.sure
    machine.once = machine.sure = False
    ends: list[str | None] = []
    states: list[tuple[dict[str, Value], dict[tuple[int, object], Value]]] = []
    for block in blocks:
        machine.frame.env.names = dict(before)
        machine.heap = dict(heap)
        ended = execute(machine, block) if block else None
        ends.append(ended)
        if ended is None:
            states.append((machine.frame.env.names, machine.heap))
    machine.once, machine.sure = once, sure
    if not states:
        machine.frame.env.names, machine.heap = before, heap
        return ends[0]
    machine.frame.env.names = _joined([names for names, _ in states])
    machine.heap = _joined([each for _, each in states])
    return None


def _joined(tables: list[dict[Any, Value]]) -> dict[Any, Value]:
    joined = dict(tables[0])
    for table in tables[1:]:
        for key, value in table.items():
            known = joined.get(key)
            joined[key] = value if known is None or known is value or known == value else either(known, value)
    return joined


def _with(machine: Machine, node: ast.With | ast.AsyncWith) -> str | None:
    recorded = machine.recorded
    for item in node.items:
        text = ast.unparse(item.context_expr)
        value = machine.evaluate(item.context_expr)
        if any(word in text for word in _UNRECORDED) or "set_grad_enabled(False)" in text:
            machine.recorded = False
        elif "enable_grad" in text or "set_grad_enabled(True)" in text:
            machine.recorded = True
        if item.optional_vars is not None:
            assign(machine, item.optional_vars, value)
    ended = execute(machine, node.body)
    machine.recorded = recorded
    return ended


def _try(machine: Machine, node: Any) -> str | None:
    handled = [handler.body for handler in node.handlers]
    once, sure = machine.once, machine.sure
    if handled:  # any of its lines can be the last that ran
        machine.once = machine.sure = False
    ended = execute(machine, node.body)
    machine.once, machine.sure = once, sure
    if handled:
        _sides(machine, [*handled, []])
    if ended is None:
        ended = execute(machine, node.orelse)
    execute(machine, node.finalbody)
    return ended
