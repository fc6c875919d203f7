"""Expressions: which value each stands for, and the operations in it."""

from __future__ import annotations

import ast
from types import ModuleType

from inplace_magic.postmortem.flow.assigning import assign
from inplace_magic.postmortem.flow.builtin import attribute
from inplace_magic.postmortem.flow.calls import call
from inplace_magic.postmortem.flow.loops import entries_of, evaluated, is_counted
from inplace_magic.postmortem.flow.machine import Machine
from inplace_magic.postmortem.flow.statements import truth
from inplace_magic.postmortem.flow.values import (
    UNKNOWN,
    Constant,
    Function,
    Instance,
    Items,
    Live,
    Tensors,
    Value,
    either,
    parts,
    tensors_in,
)
from inplace_magic.postmortem.flow.vocabulary import OPERATORS, nodes_of
from inplace_magic.postmortem.reading import is_a, stored


def evaluate(machine: Machine, node: ast.expr) -> Value:
    """Return the value of an expression."""
    machine.tick()
    if isinstance(node, ast.Constant):
        return Constant(node.value)
    if isinstance(node, ast.Name):
        return machine.find(node.id)
    if isinstance(node, ast.Attribute):
        return attribute(machine, evaluate(machine, node.value), node.attr, node)
    if isinstance(node, ast.Call):
        return call(machine, node)
    if isinstance(node, ast.BinOp):
        left, right = evaluate(machine, node.left), evaluate(machine, node.right)
        return _binary(machine, node, type(node.op).__name__, left, right)
    if isinstance(node, ast.UnaryOp):
        value = evaluate(machine, node.operand)
        if isinstance(node.op, ast.Not):
            decided = truth(value)
            return UNKNOWN if decided is None else Constant(not decided)
        if isinstance(value, Constant):
            negative = isinstance(node.op, ast.USub) and value.known and isinstance(value.value, (int, float))
            return Constant(-value.value) if negative else UNKNOWN  # type: ignore[operator]  # a number, as asked above
        return machine.operation(node, frozenset(("Neg",)), value)
    if isinstance(node, ast.Subscript):
        owner, index = evaluate(machine, node.value), evaluate(machine, node.slice)
        return either(*(item(machine, part, node.slice, index, node) for part in parts(owner)))
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return Items(evaluated(machine, node.elts))
    if isinstance(node, ast.Dict):
        return _dict(machine, node)
    if isinstance(node, ast.IfExp):
        decided = truth(evaluate(machine, node.test))
        if decided is not None:
            return evaluate(machine, node.body if decided else node.orelse)
        return _one_of(machine, [node.body, node.orelse])
    if isinstance(node, ast.BoolOp):
        first = evaluate(machine, node.values[0])
        return either(first, _one_of(machine, node.values[1:]))
    if isinstance(node, ast.Compare):
        return _compare(machine, node)
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        return _comprehension(machine, node)
    if isinstance(node, ast.Lambda):
        return Function(node, machine.frame.filename, f"{machine.frame.function}.<lambda>", machine.frame.env, {})
    if isinstance(node, ast.NamedExpr):
        value = evaluate(machine, node.value)
        assign(machine, node.target, value)
        return value
    if isinstance(node, (ast.Starred, ast.Await)):
        return evaluate(machine, node.value)
    if isinstance(node, (ast.Yield, ast.YieldFrom)):
        if node.value is not None:
            machine.frame.yields.append(evaluate(machine, node.value))
        return UNKNOWN
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.expr):
            evaluate(machine, inner)
    return UNKNOWN


def _one_of(machine: Machine, nodes: list[ast.expr]) -> Value:
    """Expressions of which nobody knows which one ran."""
    once, sure = machine.once, machine.sure
    machine.once = machine.sure = False
    values = [evaluate(machine, each) for each in nodes]
    machine.once, machine.sure = once, sure
    return either(*values)


def _binary(machine: Machine, node: ast.expr, operator: str, left: Value, right: Value) -> Value:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return UNKNOWN
    sides = machine.items_of(left), machine.items_of(right)
    if operator == "Add" and all(sides):
        return Items([entry for side in sides if side is not None for entry in side.entries])
    if operator == "Mult" and (sides[0] is not None or sides[1] is not None):
        listed = sides[0] or sides[1]
        return Items(listed.entries * 2) if listed is not None else UNKNOWN
    for side in (left, right):
        if isinstance(side, Instance) or (isinstance(side, Live) and not is_a(side.thing, (type, ModuleType))):
            return machine.operation(node, None, left, right)
    return machine.operation(node, frozenset(OPERATORS.get(operator, ())), left, right)


def _compare(machine: Machine, node: ast.Compare) -> Value:
    values = [evaluate(machine, each) for each in (node.left, *node.comparators)]
    if len(values) == 2 and all(isinstance(each, Constant) and each.known for each in values):
        left, right = (each.value for each in values if isinstance(each, Constant))
        operator = node.ops[0]
        if isinstance(operator, (ast.Eq, ast.NotEq)):
            return Constant((left == right) is isinstance(operator, ast.Eq))
        if isinstance(operator, (ast.Is, ast.IsNot)) and (left is None or right is None):
            return Constant((left is right) is isinstance(operator, ast.Is))
    if isinstance(node.ops[0], (ast.Is, ast.IsNot)) and len(values) == 2:
        sides = [each for each in values if isinstance(each, Constant) and each.known and each.value is None]
        others = [each for each in values if isinstance(each, (Live, Items, Instance, Function))]
        if sides and others:
            return Constant(isinstance(node.ops[0], ast.IsNot))
    if any(True for each in values for _ in tensors_in(each)):
        return machine.operation(node, frozenset(), *values)
    return UNKNOWN


def _dict(machine: Machine, node: ast.Dict) -> Items:
    pairs: list[tuple[object, Value]] = []
    for key, each in zip(node.keys, node.values, strict=True):
        value = evaluate(machine, each)
        if key is None:
            pairs += machine.pairs_of(value)
            continue
        name = evaluate(machine, key)
        pairs.append((name.value if isinstance(name, Constant) and name.known else object(), value))
    return Items([entry for _, entry in pairs], [key for key, _ in pairs])


def _comprehension(machine: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
    once, frame, outer = machine.once, machine.frame, machine.frame.env
    made: list[Value] = []
    keys: list[object] = []
    frame.env = machine.env(outer)
    _through(machine, node, node.generators, made, keys)
    machine.once, frame.env = once, outer
    return Items(made, keys if isinstance(node, ast.DictComp) else None)


def _through(
    machine: Machine,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    generators: list[ast.comprehension],
    made: list[Value],
    keys: list[object],
) -> None:
    """The entries of a comprehension; not within it: a local function that calls itself would keep all that is read,
    the user's tensors too, until the garbage collector comes."""
    if not generators:
        if isinstance(node, ast.DictComp):
            key = evaluate(machine, node.key)
            keys.append(key.value if isinstance(key, Constant) and key.known else object())
            made.append(evaluate(machine, node.value))
        else:
            made.append(evaluate(machine, node.elt))
        return
    first = generators[0]
    over = evaluate(machine, first.iter)
    entries = entries_of(machine, over)
    machine.once = machine.once and is_counted(machine, over) and not first.ifs
    for entry in (entries if entries is not None else [machine.fresh(), machine.fresh()])[:64]:
        assign(machine, first.target, entry)
        for test in first.ifs:
            evaluate(machine, test)
        _through(machine, node, generators[1:], made, keys)


def item(machine: Machine, owner: Value, written: ast.expr, index: Value, node: ast.expr) -> Value:
    """``owner[index]``."""
    items = machine.items_of(owner)
    if items is not None:
        key = index.value if isinstance(index, Constant) and index.known else None
        if items.keys is not None and key in items.keys:
            return items.entries[items.keys.index(key)]
        if isinstance(written, ast.Slice):
            return Items(list(items.entries))
        if type(key) is int and -len(items.entries) <= key < len(items.entries):
            return items.entries[key]
        return either(*items.entries) if items.entries else machine.fresh()
    if isinstance(owner, Tensors):
        if any(True for _ in tensors_in(index)) and not isinstance(written, ast.Slice):
            open_kind = isinstance(written, ast.Name)  # it may be a number as well
            made = machine.operation(node, nodes_of("getitem"), owner, index)
            return either(made, Tensors(owner.memories, owner.through or "view")) if open_kind else made
        if isinstance(index, Constant) and index.known and type(index.value) is str:
            return machine.child(owner, index.value)
        return Tensors(owner.memories, owner.through or "view")
    if isinstance(owner, Live):
        modules = stored(owner.thing).get("_modules")
        if type(modules) is dict and modules and isinstance(index, Constant) and index.known:
            listed = list(modules.values())
            if type(index.value) is int and -len(listed) <= index.value < len(listed):
                return Live(listed[index.value])
    if isinstance(owner, (Live, Instance)):
        return machine.call_method(owner, "__getitem__", [index], {}, node)
    return machine.fresh()
