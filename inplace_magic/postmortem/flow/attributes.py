"""Attributes: of tensors, of objects that exist, of objects that the text made."""

from __future__ import annotations

import ast
from types import FunctionType, ModuleType
from typing import Any

import torch

from inplace_magic.postmortem.flow.machine import Machine, key_of
from inplace_magic.postmortem.flow.values import (
    UNKNOWN,
    Class,
    Constant,
    Function,
    Instance,
    Items,
    Live,
    Method,
    Tensors,
    Value,
    either,
    parts,
)
from inplace_magic.postmortem.flow.vocabulary import PLAIN_ATTRIBUTES
from inplace_magic.postmortem.reading import MISSING, is_a, lookup, of_class, stored


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
    elif type(thing) is ModuleType or issubclass(type(thing), ModuleType):
        found = stored(thing).get(name, MISSING)
        return Method(owner, name) if found is MISSING else machine.value_of(found)
    else:
        found = lookup(thing, name)
    if found is MISSING:
        return Method(owner, name)
    receiver = None if is_a(thing, type) else owner
    if not is_a(thing, type) and name in stored(thing):
        return machine.value_of(found)
    if is_a(thing, torch.nn.Module) and not is_a(found, (FunctionType, staticmethod, classmethod, property)):
        return machine.value_of(found)
    return _bound(machine, found, receiver, owner, name, node)


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
