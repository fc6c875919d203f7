"""Modules and optimizers that exist: a forward of the user's is followed, a layer of PyTorch's is one operation."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

import torch

from inplace_magic.postmortem.flow.machine import Machine
from inplace_magic.postmortem.flow.values import (
    NOTHING,
    UNKNOWN,
    Constant,
    Function,
    Instance,
    Items,
    Live,
    Stepping,
    Tensors,
    Value,
    memories_in,
    parts,
)
from inplace_magic.postmortem.flow.vocabulary import layer_nodes
from inplace_magic.postmortem.reading import MISSING, is_a, module_of, name_of, of_class, stored

_TABLES = ("_parameters", "_buffers")
_MOST_TENSORS = 4_000
"""Of a module, after which no further ones are named."""
_MOST_INSIDE = 500
"""Modules inside one that are looked at for ``inplace=True``."""


def call_module(machine: Machine, module: Any, given: list[Value], named: dict[str, Value], node: ast.expr) -> Value:
    """``module(…)``, with its hooks."""
    for hook in _hooks(machine, module, "register_forward_pre_hook", "_forward_pre_hooks"):
        if isinstance(hook, Live) and name_of(type(hook.thing)) == "SpectralNorm":  # as it was before parametrizations
            machine.write(node, None, *tensors_of(machine, module, "_buffers").values(), recorded=False)
        machine.apply(hook, [Live(module), Items(list(given))], {}, node)
    made = _forward(machine, module, given, named, node)
    for hook in _hooks(machine, module, "register_forward_hook", "_forward_hooks"):
        changed = machine.apply(hook, [Live(module), Items(list(given)), made], {}, node)
        if isinstance(changed, Tensors) and isinstance(hook, Function):
            made = changed
    return made


def _hooks(machine: Machine, module: Any, method: str, table: str) -> list[Value]:
    """Return the hooks that the text registered, and those that are there still."""
    registered = machine.heap.get((id(module), f"<{method}>"))
    if isinstance(registered, Items):
        return registered.entries
    entries = stored(module).get(table)
    return [machine.value_of(each) for each in list(entries.values())] if isinstance(entries, dict) else []


def _forward(machine: Machine, module: Any, given: list[Value], named: dict[str, Value], node: ast.expr) -> Value:
    own = stored(module)
    forward = own.get("forward", of_class(type(module), "forward"))
    if type(forward) is FunctionType:
        function = machine.function_of(forward)
        if function is not None:
            receiver = None if "forward" in own else Live(module)
            return machine.apply(function.bound(receiver), given, named, node)
    if type(module) is torch.nn.Sequential:
        value: Value = given[0] if given else NOTHING
        for child in list(own["_modules"].values()):
            machine.tick()
            value = call_module(machine, child, [value], {}, node)
        return value
    name = name_of(type(module))
    tensors = [each for table in _TABLES for each in tensors_of(machine, module, table).values()]
    nodes = layer_nodes(name) if module_of(type(module)).startswith("torch.nn.modules.") else None
    if own.get("inplace") is True and given:
        machine.in_place(node, nodes, given[0])
        return given[0]
    if own.get("max_norm") is not None:
        machine.write(node, None, *tensors[:1], recorded=False)
    if name == "Identity" or name == "Flatten":
        return Tensors(memories_in(*given[:1]), "view") if given else NOTHING
    children = [each for _name, each in modules_of(module)][1:_MOST_INSIDE]
    inside = [each for each in children if stored(each).get("inplace") is True]
    below = [each for child in children for each in tensors_of(machine, child, "_parameters").values()]
    made = machine.operation(node, nodes, *given, *named.values(), *tensors, *below)
    if inside:
        within = machine.operation(node, None, *given)
        machine.write(node, None, within, bumps=None, known=False)
    return made


def listed(value: Value) -> list[Value]:
    """Return what a loop over a ``Sequential`` or ``ModuleList`` goes through; empty for anything else."""
    if isinstance(value, Live) and is_a(value.thing, (torch.nn.Sequential, torch.nn.ModuleList)):
        return [Live(each) for each in list(stored(value.thing)["_modules"].values())[:_MOST_LISTED]]
    return []


_MOST_LISTED = 64


def modules_of(module: Any) -> list[tuple[str, Any]]:
    """Return a module and all within it, each once and with the dotted path before its entries."""
    found, seen = [("", module)], {id(module)}
    for prefix, each in found:
        for key, child in (stored(each).get("_modules") or {}).items():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                found.append((f"{prefix}{key}.", child))
    return found


def tensors_of(machine: Machine, module: Any, table: str, through: str = "") -> dict[str, Value]:
    """Return a module's own tensors by their names, as the text set them last."""
    return {
        name: machine.heap.get((id(module), name)) or machine.live(tensor, through)
        for name, tensor in (stored(module).get(table) or {}).items()
        if tensor is not None
    }


def step(machine: Machine, owner: Live, given: list[Value], node: ast.expr) -> Value | None:
    """``optimizer.step()``, and ``scaler.step(optimizer)``; None where no optimizer steps."""
    for value in (owner, *given):
        for part in parts(value):
            groups = stored(part.thing).get("param_groups") if isinstance(part, Live) else None
            if type(groups) is list:
                tensors = [t for group in groups if type(group) is dict for t in group.get("params", ())]
                written = (machine.live(tensor).memories for tensor in tensors)
                machine.step(node, frozenset().union(*written))
                return NOTHING
            if isinstance(part, Stepping):
                machine.step(node, part.memories)
                return NOTHING
    return None


def construct(machine: Machine, kind: type, given: list[Value], named: dict[str, Value]) -> Value | None:
    """Return an object of a class of PyTorch's; None for other classes."""
    if of_class(kind, "param_groups") is MISSING and issubclass(kind, torch.optim.Optimizer):
        moves = of_class(kind, "step")
        if type(moves) is FunctionType and machine.texts.is_users(moves.__code__.co_filename):
            return None
        return Stepping(memories_in(*given[:1], *(named[n] for n in ("params",) if n in named)))
    module = module_of(kind)
    if issubclass(kind, torch.nn.Module):
        return _made(machine, kind, given, named) if module.startswith("torch.nn.modules.") else None
    if module.startswith(("torch", "collections", "pathlib")):
        return machine.fresh() if issubclass(kind, torch.Tensor) else Constant(None, known=False)
    return None


def _made(machine: Machine, kind: type, given: list[Value], named: dict[str, Value]) -> Value:
    """Return a layer of PyTorch's that the text made: what it was given, by the names of its parameters, and its
    weights."""
    if issubclass(kind, torch.nn.ModuleList):
        return given[0] if given else Items([])
    if issubclass(kind, torch.nn.Sequential):
        return Instance(Live(kind), {_CHILDREN: Items(list(given))})
    start = of_class(kind, "__init__")
    names = start.__code__.co_varnames[1 : start.__code__.co_argcount] if type(start) is FunctionType else ()
    return Instance(Live(kind), {**dict(zip(names, given, strict=False)), **named, _WEIGHTS: machine.fresh()})


_CHILDREN, _WEIGHTS = "<children>", "<weights>"
"""Attributes of a layer that the text made; no name of the user's has these letters."""


def is_module(value: Value) -> bool:
    """True if the text made it as a module."""
    kind = value.kind.thing if isinstance(value, Instance) and isinstance(value.kind, Live) else None
    return kind is not None and is_a(kind, type) and issubclass(kind, torch.nn.Module)


def weights_of(value: Value, depth: int = 6) -> list[Value]:
    """Return the tensors of a module that the text made, and of those in it."""
    found: list[Value] = []
    entries = list(value.attributes.values()) if isinstance(value, Instance) else []
    for each in value.entries if isinstance(value, Items) else entries:
        if isinstance(each, Tensors):
            found.append(each)
        elif depth:
            found += weights_of(each, depth - 1)
    return found


def call_made(machine: Machine, made: Instance, given: list[Value], named: dict[str, Value], node: ast.expr) -> Value:
    """Calls a layer of PyTorch's that the text made and that no name leads to any more."""
    children = made.attributes.get(_CHILDREN)
    if isinstance(children, Items):
        value: Value = given[0] if given else NOTHING
        for child in children.entries:
            value = machine.apply(child, [value], {}, node)
        return value
    name = name_of(made.kind.thing) if isinstance(made.kind, Live) else ""
    nodes = layer_nodes(name)
    flag = made.attributes.get("inplace")
    if isinstance(flag, Constant) and flag.known and flag.value and given:
        machine.in_place(node, nodes, given[0])
        return given[0]
    return machine.operation(node, nodes, *given, *named.values(), *weights_of(made))


def of_module(
    machine: Machine, owner: Live, name: str, given: list[Value], named: dict[str, Value], node: ast.expr
) -> Value | None:
    """Methods of a module of PyTorch's that hand out what it holds, or take hooks."""
    thing = owner.thing
    if not is_a(thing, torch.nn.Module):
        return None
    if name in ("parameters", "buffers", "named_parameters", "named_buffers", "state_dict"):
        return _all_tensors(machine, thing, name)
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
        held = _all_tensors(machine, thing, "state_dict")
        machine.write(node, None, *held.entries, bumps=1, recorded=False)
        return NOTHING
    if name == "apply" and given:
        for _name, each in modules_of(thing)[:100]:
            machine.apply(given[0], [Live(each)], {}, node)
        return owner
    if name == "forward" or name == "__call__":
        return call_module(machine, thing, given, named, node)
    return None


THEMSELVES = frozenset(
    ("train", "eval", "to", "cuda", "cpu", "float", "double", "half", "requires_grad_", "zero_grad", "compile")
)
"""Methods of a module that give the module itself."""


def _all_tensors(machine: Machine, module: Any, name: str) -> Items:
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
