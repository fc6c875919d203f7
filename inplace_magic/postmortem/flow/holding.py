"""Methods of what holds tensors: lists and dicts, and modules that hand out their parameters or take hooks."""

from __future__ import annotations

import ast
from typing import Any

import torch

from inplace_magic.postmortem.flow.loops import entries_of
from inplace_magic.postmortem.flow.machine import Machine
from inplace_magic.postmortem.flow.modules import call_module, modules_of, tensors_of
from inplace_magic.postmortem.flow.values import NOTHING, UNKNOWN, Constant, Items, Live, Value, either
from inplace_magic.postmortem.reading import is_a

Named = dict[str, Value]
_MOST_TENSORS = 4_000
"""Of a module, after which no further ones are named."""


def of_items(machine: Machine, items: Items, name: str, given: list[Value], node: ast.expr) -> Value:
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


def of_module(
    machine: Machine, owner: Live, name: str, given: list[Value], named: Named, node: ast.expr
) -> Value | None:
    """Methods of a module of PyTorch's that hand out what it holds, or take hooks."""
    thing = owner.thing
    if not is_a(thing, torch.nn.Module):
        return None
    if name in ("parameters", "buffers", "named_parameters", "named_buffers", "state_dict"):
        return _tensors_of(machine, thing, name)
    if name in ("children", "modules"):
        return Items([Live(each) for _name, each in modules_of(thing)[:100]])
    if name in ("register_forward_hook", "register_forward_pre_hook") and given:
        key = id(thing), f"<{name}>"
        machine.owners[id(thing)] = thing
        known = machine.heap.get(key)
        machine.heap[key] = Items([*(known.entries if isinstance(known, Items) else ()), given[0]])
        return UNKNOWN
    if name in ("register_full_backward_hook", "register_backward_hook") and given:
        machine.backward_hooks.append(given[0])
        return UNKNOWN
    if name in THEMSELVES:
        return owner
    if name == "load_state_dict":
        held = _tensors_of(machine, thing, "state_dict")
        machine.write(node, None, *held.entries, bumps=1, recorded=False)
        return NOTHING
    if name == "apply" and given:
        for _name, each in modules_of(thing)[:100]:
            machine.apply(machine, given[0], [Live(each)], {}, node)
        return owner
    if name == "forward" or name == "__call__":
        return call_module(machine, thing, given, named, node)
    return None


THEMSELVES = frozenset(
    ("train", "eval", "to", "cuda", "cpu", "float", "double", "half", "requires_grad_", "zero_grad", "compile")
)
"""Methods of a module that give the module itself."""


def _tensors_of(machine: Machine, module: Any, name: str) -> Items:
    whole = name == "state_dict"
    tables = ("_parameters", "_buffers") if whole else ("_parameters" if "parameters" in name else "_buffers",)
    pairs: list[tuple[str, Value]] = []
    for prefix, each in modules_of(module):
        for table in tables if len(pairs) < _MOST_TENSORS else ():
            found = tensors_of(machine, each, table, "detached" if whole else "")
            pairs += [(f"{prefix}{key}", value) for key, value in found.items()]
    if name.startswith("named_"):
        return Items([Items([Constant(key), value]) for key, value in pairs])
    keys: list[object] | None = [key for key, _ in pairs] if whole else None
    return Items([value for _, value in pairs], keys)
