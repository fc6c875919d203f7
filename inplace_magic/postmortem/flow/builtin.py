"""Functions of Python's own that hand tensors on: ``map``, ``zip``, ``getattr``, ``functools.reduce``; methods of its
containers."""

from __future__ import annotations

import ast

from inplace_magic.postmortem.flow.assigning import set_attribute
from inplace_magic.postmortem.flow.attributes import attribute
from inplace_magic.postmortem.flow.loops import entries_of
from inplace_magic.postmortem.flow.machine import Machine
from inplace_magic.postmortem.flow.values import (
    NOTHING,
    UNKNOWN,
    Constant,
    Instance,
    Items,
    Live,
    Method,
    Partial,
    Tensors,
    Value,
    either,
)
from inplace_magic.postmortem.flow.vocabulary import OPERATOR_FUNCTIONS, OPERATORS

_PYTHONS = frozenset(
    ("builtins", "operator", "_operator", "functools", "_functools", "itertools", "copy", "math", "random")
)


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
        source = machine.items_of(given[0]) if given else None
        keys = list(source.keys) if source is not None and source.keys is not None else []
        entries = list(source.entries) if source is not None and source.keys is not None else []
        return Items([*entries, *named.values()], [*keys, *named])
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
        other = machine.items_of(given[0])
        if other is not None and other.keys is not None:
            items.keys += other.keys
            items.entries += other.entries
    elif name == "items":
        return Items(
            [Items([Constant(key), entry]) for key, entry in zip(items.keys or (), items.entries, strict=False)]
        )
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
