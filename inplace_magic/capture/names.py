"""Names by which the user's namespace reaches tensors and modules, looked up once, when the watch ends.

How they are reached, and what is never run on the way, says :mod:`.reach`.

A call says which classes' ``forward`` ran, and not whose: of two blocks of one class that follow each other the
parameters tell. Their names and the modules around them together say ``layer1[0]`` is a ``BasicBlock``.

And of those whose ``inplace`` flag is on, the lines that make them. ``self.main(x)`` says not which layer of a
``Sequential`` wrote, and the line that would have to change stands in an ``__init__``. That is found from the class of
the module that owns the layer: its ``__init__`` is read as text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch

from inplace_magic.capture.frames import class_in
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.naming.reach import Kinds, met_in
from inplace_magic.capture.naming.scope import names_in_sight
from inplace_magic.capture.torch import describe
from inplace_magic.record.names import InplaceModule, ModuleName, TensorName
from inplace_magic.record.places import Callsite
from inplace_magic.source.places import Sources

_CPU = torch.device("cpu")
TORCH_KINDS = Kinds(
    tensor=torch.Tensor,
    module=torch.nn.Module,
    indexed=(torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList),
    tables=("_parameters", "_buffers", "_modules"),
    gradient=describe.gradient,
)


@dataclass(frozen=True)
class Namespace:
    """The names of tensors in the user's namespace at the end of the watch."""

    names: tuple[TensorName, ...] = ()
    arrays: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Names of NumPy arrays by the serial number of the storage that they share."""
    hooked_modules: tuple[str, ...] = ()
    modules: dict[str, torch.nn.Module] = field(default_factory=dict)
    """Every module within reach, by its path."""


def read_namespace(namespace: Mapping[str, Any] | FrameType, identity: IdentityMap) -> Namespace:
    """Return what the user's names reach: tensors that the watch has met, the NumPy arrays on their memory, modules.

    Args:
        namespace: the names, or the frame in whose sight they are.
    """
    namespace = names_in_sight(namespace) if isinstance(namespace, FrameType) else namespace
    identity.bury()
    names, modules = met_in(namespace, identity.known, TORCH_KINDS)
    arrays: dict[int, tuple[str, ...]] = {}
    for name, value in list(namespace.items()):
        if type(value).__name__ == "ndarray" and type(value).__module__ == "numpy" and not name.startswith("_"):
            storage = identity.storage_at(value.__array_interface__["data"][0], _CPU)
            if storage is not None:
                arrays[storage.serial] = (*arrays.get(storage.serial, ()), name)
    hooked = tuple(path for path, module in modules if vars(module).get("_forward_hooks"))
    return Namespace(names, arrays, hooked, dict(modules))


_LAST_STEP = re.compile(r"(?:\.[^.\[\]]+|\[[^\[\]]*\])$")


def module_names(modules: Mapping[str, torch.nn.Module], names: Iterable[TensorName]) -> tuple[ModuleName, ...]:
    """Return those modules of a namespace that have one of the named tensors.

    Args:
        modules: every module within reach, by its path.
    """
    around: set[str] = set()
    for entry in names:
        path = _LAST_STEP.sub("", entry.name)
        while path not in around:
            around.add(path)
            path = _LAST_STEP.sub("", path)
    return tuple(named(path, module) for path, module in modules.items() if path in around)


def named(path: str, module: torch.nn.Module) -> ModuleName:
    """Return a module as the record has it."""
    runs = type(module).forward is not torch.nn.Module.forward
    return ModuleName(path, type(module).__name__, defining_class(module) if runs else "")


def defining_class(module: torch.nn.Module) -> str:
    """Name of the class that defines its ``forward``; ``Module`` where Python does not tell it."""
    return class_in(str(getattr(type(module).forward, "__qualname__", "forward")))


_MOST = 1_000
_LIBRARY = torch.nn.Module.__module__.partition(".")[0]


def inplace_modules(modules: Mapping[str, torch.nn.Module], sources: Sources) -> tuple[InplaceModule, ...]:
    """Return those modules of a namespace that write what they are given.

    Args:
        modules: every module within reach, by its path, owners before what they own.
    """
    made: dict[tuple[type, str], Callsite | None] = {}
    found: list[InplaceModule] = []
    for path, module in modules.items():
        if vars(module).get("inplace") is not True or len(found) == _MOST:
            continue
        owned = _owner(path, modules)
        if owned is not None and owned not in made:
            made[owned] = _made_by(*owned, sources)
        place = made[owned] if owned is not None else None
        found.append(InplaceModule(path, type(module).__name__, defining_class(module), place))
    return tuple(found)


def _owner(path: str, known: Mapping[str, torch.nn.Module]) -> tuple[type, str] | None:
    """Return the class of the nearest owner that is not torch's own, with the path from there."""
    for match in reversed(list(re.finditer(r"[.\[]", path))):
        owner = known.get(path[: match.start()])
        if owner is not None and type(owner).__module__.partition(".")[0] != _LIBRARY:
            return type(owner), path[match.start() :]
    return None


def _made_by(owner: type, rest: str, sources: Sources) -> Callsite | None:
    """Return the expression in ``owner.__init__`` that makes ``self.main[2]``, for the rest ``.main[2]``."""
    code = getattr(vars(owner).get("__init__"), "__code__", None)
    function = sources.function_at(code) if code is not None else None
    steps = re.findall(r"\.(\w+)|\[(\d+)\]", rest)
    if code is None or function is None or not function.args.args or not steps[0][0]:
        return None
    me = function.args.args[0].arg
    values = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and f"{me}.{steps[0][0]}" in map(ast.unparse, node.targets)
    ]
    node: ast.expr | None = values[0] if len(values) == 1 else None
    for name, number in steps[1:]:
        node = _entry(node, number) if not name else None
    return sources.place_of(code, node) if isinstance(node, ast.Call) else None


def _entry(node: ast.expr | None, number: str) -> ast.expr | None:
    """Return the layer of that number in ``nn.Sequential(…)`` or ``nn.ModuleList([…])``."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    entries = node.args
    if len(entries) == 1 and isinstance(entries[0], (ast.List, ast.Tuple)):
        entries = entries[0].elts
    plain = not any([isinstance(entry, (ast.Starred, ast.Name)) for entry in entries])
    return entries[int(number)] if plain and int(number) < len(entries) else None
