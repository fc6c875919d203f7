"""Calls: functions of the user's are followed, those of PyTorch's become events."""

from __future__ import annotations

import ast
import functools
from types import MethodType, ModuleType
from typing import Any

import torch

from inplace_magic.postmortem.flow import modules
from inplace_magic.postmortem.flow.assigning import same_object
from inplace_magic.postmortem.flow.builtin import attribute, builtin, of_items
from inplace_magic.postmortem.flow.loops import evaluated
from inplace_magic.postmortem.flow.machine import MOST_DEPTH, Machine
from inplace_magic.postmortem.flow.operations import operation
from inplace_magic.postmortem.flow.values import (
    NOTHING,
    UNKNOWN,
    Class,
    Frame,
    Function,
    Instance,
    Items,
    Live,
    Method,
    Partial,
    Stepping,
    Tensors,
    Value,
    Where,
    either,
    parts,
)
from inplace_magic.postmortem.reading import is_a, module_of, name_of

Named = dict[str, Value]


def call(machine: Machine, node: ast.Call) -> Value:
    """Return the value of a call."""
    function = machine.evaluate(node.func)
    given = evaluated(machine, node.args)
    named: Named = {}
    for keyword in node.keywords:
        value = machine.evaluate(keyword.value)
        if keyword.arg is not None:
            named[keyword.arg] = value
        else:
            named.update((key, each) for key, each in machine.pairs_of(value) if isinstance(key, str))
    return either(*(apply(machine, part, given, named, node) for part in parts(function)))


def apply(machine: Machine, function: Value, given: list[Value], named: Named, node: ast.expr) -> Value:
    """Calls a value."""
    machine.tick()
    if isinstance(function, Function):
        return _follow(machine, function, given, named, node)
    if isinstance(function, Method):
        return _method(machine, function, given, named, node)
    if isinstance(function, Partial):
        both = {**dict(function.named), **named}
        return apply(machine, function.function, [*function.given, *given], both, node)
    if isinstance(function, Class):
        return _instance(machine, function, given, named, node)
    if isinstance(function, Instance):
        for name in ("forward", "__call__"):
            found = _find_method(machine, function, name, node)
            if found is not None:
                return _follow(machine, found, given, named, node)
        if modules.is_module(function):
            return modules.call_made(machine, function, given, named, node)
        return machine.operation(node, None, *given, *named.values())
    if isinstance(function, Live):
        return _live(machine, function, given, named, node)
    return machine.operation(node, None, function, *given, *named.values())


def _follow(machine: Machine, function: Function, given: list[Value], named: Named, node: ast.expr) -> Value:
    """Goes through a function of the user's."""
    running = sum(each.function == function.name and each.filename == function.filename for each in machine.frames)
    if len(machine.frames) >= MOST_DEPTH or running > 2:
        return machine.operation(node, None, *given, *named.values())
    line = min([function.node.lineno, *(each.lineno for each in getattr(function.node, "decorator_list", ()))])
    live = machine.locals_by_code.get((function.filename, line))
    env = machine.env(function.env, live)
    where = Where(machine.frame.filename, node, machine.frame.function, machine.frame.caller)
    inner = Frame(function.filename, function.name, env, where)
    _parameters(machine, function, given, named, inner)
    recorded, machine.recorded = machine.recorded, machine.recorded and function.recorded
    machine.frames.append(inner)
    try:
        if isinstance(function.node, ast.Lambda):
            return machine.evaluate(function.node.body)
        machine.execute(function.node.body)
    finally:
        machine.frames.pop()
        machine.recorded = recorded
    if inner.yields:
        return Items(inner.yields)
    return either(*inner.returns) if inner.returns else NOTHING


def _parameters(machine: Machine, function: Function, given: list[Value], named: Named, inner: Frame) -> None:
    arguments = function.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    values = [function.receiver, *given] if function.receiver is not None else list(given)
    bound: dict[str, Value] = dict(zip(names, values, strict=False))
    rest = [each for each in values[len(names) :] if each is not None]
    keywords = dict(named)
    for name in (*names, *(each.arg for each in arguments.kwonlyargs)):
        if name in keywords:
            bound[name] = keywords.pop(name)
        elif name not in bound:
            bound[name] = function.defaults.get(name, UNKNOWN)
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = Items(rest)
    if arguments.kwarg is not None:
        bound[arguments.kwarg.arg] = Items(list(keywords.values()), list(keywords))
    live = inner.env.live
    for name, value in bound.items():
        inner.env.names[name] = same_object(machine, value, live[name]) if live and name in live else value


def _find_method(machine: Machine, owner: Value, name: str, node: ast.expr) -> Function | None:
    found = attribute(machine, owner, name, node)
    return found if isinstance(found, Function) else None


def call_method(machine: Machine, owner: Value, name: str, given: list[Value], named: Named, node: ast.expr) -> Value:
    """``owner.name(…)`` where the user defined it; else an operation that may make anything."""
    found = _find_method(machine, owner, name, node)
    if found is not None:
        return _follow(machine, found, given, named, node)
    return machine.operation(node, None, owner, *given)


def _method(machine: Machine, method: Method, given: list[Value], named: Named, node: ast.expr) -> Value:
    base, name = method.base, method.name
    if isinstance(base, Tensors):
        return operation(machine, name, [base, *given], named, node)
    if isinstance(base, Items):
        return of_items(machine, base, name, given)
    if base is not None and modules.is_module(base):
        if name in ("parameters", "buffers"):
            return Items(modules.weights_of(base))
        if name in modules.THEMSELVES:
            return base
    if isinstance(base, Stepping) and name == "step":
        machine.step(node, base.memories)
        return NOTHING
    if isinstance(base, Live):
        items = machine.items_of(base)
        if items is not None:
            return of_items(machine, items, name, given)
        thing = base.thing
        if is_a(thing, ModuleType):
            return operation(machine, name, given, named, node)
        if name == "step":
            done = modules.step(machine, base, given, node)
            if done is not None:
                return done
        found = modules.of_module(machine, base, name, given, named, node)
        if found is not None:
            return found
        if name == "apply" and is_a(thing, type):
            forward = _find_method(machine, base, "forward", node)
            if forward is not None:
                return _custom(machine, forward, given, node)
        if name == "__init__":
            return NOTHING
    if name.endswith("_") and not name.endswith("__"):
        machine.write(node, None, *given[:1], bumps=None, known=False)
    return machine.operation(node, None, *([base] if base is not None else []), *given, *named.values())


def _custom(machine: Machine, forward: Function, given: list[Value], node: ast.expr) -> Value:
    """``Function.apply``: its forward is not recorded, and its node can keep all that went in and came out."""
    context = Live(object())
    machine.owners[id(context.thing)] = context.thing
    recorded, machine.recorded = machine.recorded, False
    made = _follow(machine, forward, [context, *given], {}, node)
    machine.recorded = recorded
    event = machine.operation(node, None, *given, into=None)
    if isinstance(made, Tensors):
        machine.events[-1].makes |= made.memories
        return made
    return made if isinstance(made, Items) else event


def _instance(machine: Machine, kind: Value, given: list[Value], named: Named, node: ast.expr) -> Value:
    """Return an object of a class of the user's, with what its ``__init__`` sets."""
    made = Instance(kind)
    start = _find_method(machine, made, "__init__", node)
    if start is not None:
        _follow(machine, start, given, named, node)
        return made
    for name, value in zip(_fields(kind), given, strict=False):
        made.attributes[name] = value
    made.attributes.update(named)
    return made


def _fields(kind: Value) -> list[str]:
    """Return the names that a class without a written ``__init__`` gives its arguments: of a dataclass or a named
    tuple."""
    if isinstance(kind, Class):
        return [n.target.id for n in kind.node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
    names: Any = type.__getattribute__(kind.thing, "__dict__") if isinstance(kind, Live) else {}
    listed = names.get("_fields", names.get("__dataclass_fields__", ()))
    return [each for each in listed if isinstance(each, str)]


def _name(thing: Any) -> str:
    """Return the name of a function of Python's or PyTorch's; empty for another object that can be called."""
    return str(getattr(thing, "__name__", "")) if module_of(type(thing)) in ("builtins", "torch._ops") else ""


def _live(machine: Machine, function: Live, given: list[Value], named: Named, node: ast.expr) -> Value:
    thing: Any = function.thing
    kind = type(thing)
    if kind is MethodType:
        owner = machine.value_of(thing.__self__)
        inner = machine.value_of(thing.__func__)
        if isinstance(inner, Function):
            return _follow(machine, inner.bound(owner), given, named, node)
        return _method(machine, Method(owner, _name(thing.__func__)), given, named, node)
    if kind is functools.partial:
        fixed = {name: machine.value_of(each) for name, each in thing.keywords.items()}
        before = [machine.value_of(each) for each in thing.args]
        return apply(machine, machine.value_of(thing.func), [*before, *given], {**fixed, **named}, node)
    if is_a(thing, torch.nn.Module):
        return modules.call_module(machine, thing, given, named, node)
    if is_a(thing, type):
        made = builtin(machine, name_of(thing), module_of(thing), given, named, node)
        made = made or modules.construct(machine, thing, given, named)
        if made is not None:
            return made
        if issubclass(thing, tuple) and _fields(function):
            return Items([*given, *named.values()], list(_fields(function)))
        return _instance(machine, function, given, named, node)
    if callable(thing):
        name = _name(thing)
        module = str(getattr(thing, "__module__", "") or "") if name else ""
        made = builtin(machine, name, module, given, named, node)
        if made is not None:
            return made
        if name:
            return operation(machine, name, given, named, node, library=thing)
        found = _find_method(machine, function, "__call__", node)
        if found is not None:
            return _follow(machine, found, given, named, node)
    return machine.operation(node, None, *given, *named.values())
