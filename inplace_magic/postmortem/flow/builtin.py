"""What Python itself does with values: attributes, functions that hand tensors on such as ``map``, ``zip`` and
``functools.reduce``, methods of its containers."""

from __future__ import annotations

import ast
from types import FunctionType, ModuleType
from typing import Any

import torch

from inplace_magic.postmortem.flow.assigning import set_attribute
from inplace_magic.postmortem.flow.loops import entries_of
from inplace_magic.postmortem.flow.machine import Machine, key_of
from inplace_magic.postmortem.flow.values import (
    NOTHING,
    UNKNOWN,
    Class,
    Constant,
    Function,
    Instance,
    Items,
    Live,
    Method,
    Partial,
    Tensors,
    Value,
    either,
    parts,
)
from inplace_magic.postmortem.flow.vocabulary import OPERATOR_FUNCTIONS, OPERATORS, PLAIN_ATTRIBUTES
from inplace_magic.postmortem.reading import MISSING, is_a, lookup, of_class, stored

_PYTHONS = frozenset(
    ("builtins", "operator", "_operator", "functools", "_functools", "itertools", "copy", "math", "random")
)


def attribute(machine: Machine, owner: Value, name: str, node: ast.expr) -> Value:
    """``owner.name``."""
    return either(*(_attribute(machine, part, name, node) for part in parts(owner)))


def _attribute(machine: Machine, owner: Value, name: str, node: ast.expr) -> Value:
    if isinstance(owner, Tensors):
        return _of_tensor(machine, owner, name)
    if isinstance(owner, Items):
        if owner.keys is not None and name in owner.keys:
            return owner.entries[owner.keys.index(name)]
        return Method(owner, name)
    key = key_of(owner)
    if key is not None and (key, name) in machine.heap:
        return machine.heap[key, name]
    if isinstance(owner, Instance):
        if name in owner.attributes:
            return owner.attributes[name]
        return _of_kind(machine, owner, owner.kind, name, node)
    if isinstance(owner, Live):
        found = _of_object(machine, owner, name, node)
        return UNKNOWN if isinstance(found, Constant) and machine.may_have_changed(name) else found
    if isinstance(owner, Class):
        return _of_kind(machine, owner, owner, name, node)
    return UNKNOWN if isinstance(owner, Constant) else Method(owner, name)


def _of_tensor(machine: Machine, owner: Tensors, name: str) -> Value:
    if name in PLAIN_ATTRIBUTES:
        return UNKNOWN
    if name == "data":
        return Tensors(owner.memories, "data")
    if name in ("grad", "_grad"):
        return machine.child(owner, "grad")
    if len(owner.memories) == 1 and (next(iter(owner.memories)), name) in machine.children:
        return machine.children[next(iter(owner.memories)), name]
    if name in ("T", "mT", "H", "mH", "real", "imag"):
        return Tensors(owner.memories, owner.through or "view")
    return Method(owner, name)


def _of_object(machine: Machine, owner: Live, name: str, node: ast.expr) -> Value:
    thing = owner.thing
    if is_a(thing, type):
        found = of_class(thing, name)
        return Method(owner, name) if found is MISSING else _bound(machine, found, None, owner, name, node)
    found = stored(thing).get(name, MISSING) if is_a(thing, ModuleType) else lookup(thing, name)
    if found is MISSING:
        return Method(owner, name)
    held = is_a(thing, torch.nn.Module) and not is_a(found, (FunctionType, staticmethod, classmethod, property))
    if held or name in stored(thing):
        return machine.value_of(found)
    return _bound(machine, found, owner, owner, name, node)


def _of_kind(machine: Machine, owner: Value, kind: Value, name: str, node: ast.expr) -> Value:
    """Return an attribute of the class of an object."""
    if isinstance(kind, Live) and is_a(kind.thing, type):
        found = of_class(kind.thing, name)
        return Method(owner, name) if found is MISSING else _bound(machine, found, owner, owner, name, node)
    if isinstance(kind, Class):
        for statement in kind.node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == name:
                static = any(ast.unparse(each) == "staticmethod" for each in statement.decorator_list)
                full = f"{kind.node.name}.{name}"
                made = Function(statement, kind.filename, full, kind.env, {})
                return made if static or owner is kind else made.bound(owner)
    return Method(owner, name)


def _bound(machine: Machine, found: Any, receiver: Value | None, owner: Value, name: str, node: ast.expr) -> Value:
    if is_a(found, property):
        getter = machine.function_of(found.fget) if type(found.fget) is FunctionType else None
        return machine.apply(getter.bound(receiver), [], {}, node) if getter is not None else machine.fresh()
    if is_a(found, (staticmethod, classmethod)):
        inner = found.__func__
        function = machine.function_of(inner) if type(inner) is FunctionType else None
        if function is None:
            return Method(owner, name)
        return function if is_a(found, staticmethod) else function.bound(owner)
    if type(found) is FunctionType:
        function = machine.function_of(found)
        if function is None:
            return Method(owner, name)
        return function.bound(receiver) if receiver is not None else function
    if callable(found) and not is_a(found, type):
        return Method(owner, name)
    return machine.value_of(found)


def builtin(
    machine: Machine, name: str, module: str, given: list[Value], named: dict[str, Value], node: ast.expr
) -> Value | None:
    """What a function of Python's gives; None where it is none."""
    if name == "checkpoint" and module.startswith("torch") and given:
        rest = {key: each for key, each in named.items() if key not in ("use_reentrant", "preserve_rng_state")}
        return machine.apply(given[0], given[1:], rest, node)
    if name == "Parameter" and module.startswith("torch") and given:
        return given[0]
    if module not in _PYTHONS:
        return None
    if name[:1] == "i" and name[1:] in OPERATOR_FUNCTIONS and given:
        machine.in_place(node, frozenset(OPERATORS[OPERATOR_FUNCTIONS[name[1:]]]), *given)
        return given[0]
    any_tensor = any(isinstance(each, Tensors) for each in given)
    lists = [entries_of(machine, each) for each in given]
    if name == "reduce" and len(given) > 1:
        entries = [*given[2:], *(lists[1] or [machine.fresh(), machine.fresh()])]
        total = entries[0] if entries else NOTHING
        for entry in entries[1:9]:
            total = machine.apply(given[0], [total, entry], {}, node)
        return total
    if name == "map" and len(given) > 1:
        rows = zip(*(each if each is not None else [machine.fresh()] * 2 for each in lists[1:]), strict=False)
        return Items([machine.apply(given[0], list(row), {}, node) for row in list(rows)[:16]])
    if name in ("list", "tuple", "set", "sorted", "reversed", "iter", "frozenset", "deque", "filter"):
        held = lists[-1] if lists else []
        if held is None:
            return machine.fresh()
        return Items(list(reversed(held)) if name == "reversed" else list(held))
    if name == "range":
        return _range(machine, given)
    if name == "zip":
        known = [each if each is not None else [machine.fresh(), machine.fresh()] for each in lists]
        return Items([Items(list(row)) for row in zip(*known, strict=False)])
    if name == "enumerate" and given:
        first = lists[0]
        return None if first is None else Items([Items([Constant(i), each]) for i, each in enumerate(first)])
    if name == "dict":
        pairs = [*(machine.pairs_of(given[0]) if given else ()), *named.items()]
        return Items([entry for _, entry in pairs], [key for key, _ in pairs])
    if name == "getattr" and len(given) > 1:
        key = given[1]
        if isinstance(key, Constant) and isinstance(key.value, str):
            return attribute(machine, given[0], key.value, node)
        return Method(given[0], "") if isinstance(given[0], Tensors) else machine.fresh()
    if name == "setattr" and len(given) > 2:
        if isinstance(given[1], Constant) and isinstance(given[1].value, str):
            set_attribute(machine, given[0], given[1].value, given[2])
        return NOTHING
    if name == "setitem" and len(given) > 2:
        machine.write(node, None, given[0])
        return NOTHING
    if name == "partial" and given:
        return Partial(given[0], tuple(given[1:]), tuple(named.items()))
    if name == "sum" and given:
        return machine.operation(node, frozenset(("Add",)), *given)
    if name in ("abs", "pow", "max", "min", "next"):
        if name == "next":
            return either(*lists[0]) if lists and lists[0] else machine.fresh()
        return machine.operation(node, frozenset(("Abs", "Pow")), *given) if any_tensor else UNKNOWN
    if name == "vars" and given and isinstance(given[0], (Live, Instance)):
        return given[0]
    if name in ("deepcopy", "copy") and given:
        if name == "copy" and not isinstance(given[0], Tensors):
            return given[0]
        return machine.operation(node, frozenset(("Clone",)), *given)
    if name in ("super", "object", "type"):
        return Method(machine.find("self") if name == "super" else None, name)
    if name in OPERATOR_FUNCTIONS and any_tensor:
        return machine.operation(node, frozenset(OPERATORS[OPERATOR_FUNCTIONS[name]]), *given)
    return UNKNOWN


def _range(machine: Machine, given: list[Value]) -> Value:
    """Return the numbers of a short ``range``."""
    numbers = [each.value for each in given if isinstance(each, Constant) and type(each.value) is int]
    if len(numbers) == len(given) and 0 < len(numbers) < 4 and 0 not in numbers[2:]:
        counted = range(*numbers)
        if len(counted) <= _MOST_NUMBERS:
            return Items([Constant(number) for number in counted])
    return machine.fresh()


_MOST_NUMBERS = 64


def of_items(machine: Machine, items: Items, name: str, given: list[Value]) -> Value:
    """Methods of lists, tuples and dicts."""
    if name in ("append", "appendleft", "add") and given:
        items.entries.append(given[0])
    elif name == "insert" and len(given) > 1:
        items.entries.insert(0, given[1])
    elif name in ("extend", "extendleft") and given:
        items.entries += entries_of(machine, given[0]) or []
    elif name == "update" and given and items.keys is not None:
        for key, entry in machine.pairs_of(given[0]):
            items.keys.append(key)
            items.entries.append(entry)
    elif name == "items":
        return Items([Items([Constant(key), entry]) for key, entry in machine.pairs_of(items)])
    elif name == "keys":
        return Items([Constant(key) for key in items.keys or ()])
    elif name in ("values", "copy"):
        return Items(list(items.entries), list(items.keys) if name == "copy" and items.keys is not None else None)
    elif name in ("get", "pop", "setdefault", "popleft", "popitem", "__getitem__"):
        key = given[0].value if given and isinstance(given[0], Constant) and given[0].known else None
        if items.keys is not None and key in items.keys:
            return items.entries[items.keys.index(key)]
        return either(*items.entries, *given[1:2]) if items.entries or given[1:2] else NOTHING
    return NOTHING
