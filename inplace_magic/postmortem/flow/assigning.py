"""What an assignment does: a name gets another value, an attribute is set, or memory is written."""

from __future__ import annotations

import ast
from typing import Any

import torch

from inplace_magic.postmortem.flow.machine import PLAIN, Machine, key_of
from inplace_magic.postmortem.flow.modules import listed
from inplace_magic.postmortem.flow.values import (
    UNKNOWN,
    Choice,
    Constant,
    Env,
    Instance,
    Items,
    Live,
    Stepping,
    Tensors,
    Value,
    parts,
)
from inplace_magic.postmortem.flow.vocabulary import KEEP_NOTHING, OPERATORS, SETITEM
from inplace_magic.postmortem.reading import MISSING, is_a, lookup


def assign(machine: Machine, target: ast.expr, value: Value) -> None:
    """Puts a value where a target says."""
    machine.tick()
    if isinstance(target, ast.Name):
        bind(machine, target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(machine, target.elts, value)
    elif isinstance(target, ast.Starred):
        assign(machine, target.value, value)
    elif isinstance(target, ast.Attribute):
        for owner in parts(machine.evaluate(target.value)):
            set_attribute(machine, owner, target.attr, value)
    elif isinstance(target, ast.Subscript):
        owner = machine.evaluate(target.value)
        index = machine.evaluate(target.slice)
        set_item(machine, target, owner, index, value)


def bind(machine: Machine, name: str, value: Value) -> None:
    """Gives a name a value; of an object that exists still the object itself."""
    env: Env = machine.frame.env
    if name in env.outer:
        outer = env.parent
        while outer is not None and name not in outer.names and outer.parent is not None:
            outer = outer.parent
        env = outer or env
    if env.live is not None and name in env.live:
        value = same_object(machine, value, env.live[name])
    env.names[name] = value


def same_object(machine: Machine, value: Value, live: Any, depth: int = 4) -> Value:
    """Return the object that a name leads to in the end, where it can be the one that the text just made."""
    kind = type(live)
    if not depth or kind in PLAIN or (isinstance(value, Live) and value.thing is live):
        return value
    if isinstance(value, Instance):
        named = value.kind.thing if isinstance(value.kind, Live) else None
        if (named is not None and kind is not named) or issubclass(kind, torch.Tensor):
            return value
        _set_as_made(machine, value, live, depth)
        return Live(live)
    if isinstance(value, Stepping):
        return Live(live) if issubclass(kind, torch.optim.Optimizer) else value
    if isinstance(value, Tensors) and value.memories:
        # the result of a function that nobody knows, and an object that nobody else made
        return Live(live) if issubclass(kind, (torch.nn.Module, torch.optim.Optimizer)) else value
    if isinstance(value, Items) and issubclass(kind, torch.nn.Module):
        return Live(live)
    if isinstance(value, Items):
        held: list[object] = []
        if is_a(live, dict):
            held = list(dict.values(live))
        elif isinstance(live, (list, tuple)) and kind in (list, tuple):
            held = list(live)
        if len(held) == len(value.entries):
            pairs = zip(value.entries, held, strict=True)
            value.entries[:] = [same_object(machine, entry, each, depth - 1) for entry, each in pairs]
    return value


def _set_as_made(machine: Machine, made: Instance, live: Any, depth: int) -> None:
    """What the text set an object's attributes to, told of the object itself: its tensors, whose memory only the text
    tells; of all else what is there in the end."""
    machine.owners[id(live)] = live
    for attribute, held in made.attributes.items():
        now = lookup(live, attribute)
        if now is MISSING or issubclass(type(now), torch.Tensor):
            machine.heap[id(live), attribute] = held
        elif isinstance(held, (Items, Instance)):
            machine.heap[id(live), attribute] = same_object(machine, held, now, depth - 1)
        else:
            machine.heap.pop((id(live), attribute), None)


def _unpack(machine: Machine, targets: list[ast.expr], value: Value) -> None:
    items = machine.items_of(value) if not isinstance(value, Choice) else None
    entries = items.entries if items is not None else listed(value)
    starred = any(isinstance(target, ast.Starred) for target in targets)
    if len(entries) == len(targets) and not starred:
        for target, entry in zip(targets, entries, strict=True):
            assign(machine, target, entry)
        return
    for number, target in enumerate(targets):
        assign(machine, target, _part(machine, value, number))


def _part(machine: Machine, value: Value, number: int) -> Value:
    if isinstance(value, Tensors):
        if not value.several:
            return Tensors(value.memories, value.through or "view")
        if number == 0:
            return Tensors(value.memories, value.through)
        made = machine.child(value, number)
        for event in reversed(machine.events):
            if value.memories <= event.makes:
                event.makes |= made.memories
                break
        return made
    return UNKNOWN if isinstance(value, Constant) else machine.fresh()


def set_attribute(machine: Machine, owner: Value, name: str, value: Value) -> None:
    """``owner.name = value``."""
    if isinstance(owner, Instance):
        owner.attributes[name] = value
    key = key_of(owner)
    if isinstance(owner, Live):
        machine.owners[id(owner.thing)] = owner.thing
    if key is not None:
        machine.heap[key, name] = value
    elif isinstance(owner, Tensors) and len(owner.memories) == 1 and name not in ("data", "grad"):
        machine.children[next(iter(owner.memories)), name] = value if isinstance(value, Tensors) else machine.fresh()


def set_item(
    machine: Machine, node: ast.Subscript, owner: Value, index: Value, value: Value, *, also: bool = False
) -> None:
    """``owner[index] = value``; with `also`, ``owner[index] += …``."""
    for part in parts(owner):
        items = machine.items_of(part)
        if items is not None:
            _put(items, index, value)
        elif isinstance(part, Tensors):
            basic = _is_basic(node.slice, index)
            bumps = 1 if not also or basic is False else 2 if basic else None
            machine.write(node, SETITEM, part, bumps=bumps)
        elif isinstance(part, (Live, Instance)):
            machine.call_method(part, "__setitem__", [index, value], {}, node)


def _put(items: Items, index: Value, value: Value) -> None:
    key = index.value if isinstance(index, Constant) and index.known else None
    if items.keys is not None:
        if key in items.keys:
            items.entries[items.keys.index(key)] = value
        else:
            items.keys.append(key if key is not None else object())
            items.entries.append(value)
    elif type(key) is int and -len(items.entries) <= key < len(items.entries):
        items.entries[key] = value
    else:
        items.entries.append(value)


def _is_basic(node: ast.expr, index: Value) -> bool | None:
    """True if an index gives a view; None where that depends on its value."""
    if isinstance(node, (ast.Slice, ast.Constant)):
        return True
    if isinstance(node, ast.Tuple) and all(_is_basic(each, UNKNOWN) for each in node.elts):
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_basic(node.operand, index)
    if isinstance(index, Constant):
        return True
    if isinstance(node, (ast.Compare, ast.List)):
        return False
    return None


def augment(machine: Machine, node: ast.AugAssign) -> None:
    """``x += y``: a tensor is written, a number is replaced."""
    operator = type(node.op).__name__
    names = frozenset(OPERATORS.get(operator, ()))
    target = node.target
    right = machine.evaluate(node.value)
    if isinstance(target, ast.Subscript):
        owner = machine.evaluate(target.value)
        index = machine.evaluate(target.slice)
        for part in parts(owner):
            if isinstance(part, Tensors):
                machine.operation(target, names, part, right, into=Tensors(frozenset()))
                machine.events[-1].hidden = not names <= KEEP_NOTHING
                set_item(machine, target, part, index, right, also=True)
                continue
            for entry in parts(machine.item(part, target.slice, index, target)):
                _in_place(machine, node, names, entry, right)
                if isinstance(part, (Live, Instance)) and machine.items_of(part) is None:
                    machine.call_method(part, "__setitem__", [index, entry], {}, target)
        return
    for now in parts(machine.evaluate(target)):
        made = _in_place(machine, node, names, now, right)
        if made is not None and made is not now:
            assign(machine, target, made)


def _in_place(machine: Machine, node: ast.AugAssign, names: frozenset[str], now: Value, right: Value) -> Value | None:
    if isinstance(now, Tensors):
        machine.in_place(node, names, now, right)
        return None
    if isinstance(now, Items):
        added = machine.items_of(right)
        now.entries += added.entries if added is not None else [right]
        return None
    if isinstance(now, (Live, Instance)):
        return None
    if isinstance(right, Tensors):
        return machine.operation(node, names, now, right)
    return UNKNOWN
