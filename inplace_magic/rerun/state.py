"""The places of a program's variables, which must hold copies while a variant runs.

A function that is defined in one cell and called in another reads ``model`` from the notebook's namespace, not from an
argument. Copying its arguments would leave the user's own model in its hands. So from the code that will run we follow
the names that it loads, its closures, defaults and classes, and through them every function of the user's that can be
reached; each variable found on the way is a :class:`Place`. A run puts copies into the places and the originals back.

Not seen: variables that code reaches by computed names (``globals()[name]``), and state inside libraries.
"""

from __future__ import annotations

import collections
import dis
import enum
import gc
import os
import re
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch

from inplace_magic.capture.frames import library_folders
from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.errors import CopyError
from inplace_magic.language import N_, _

MISSING: Any = object()
"""The value of a place that holds nothing: a global that the program would make."""

FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type, types.MethodWrapperType)
_ATOMS = (
    *(type(None), bool, int, float, complex, str, bytes, range, type(Ellipsis), type(NotImplemented)),
    *(types.CodeType, types.FrameType, types.TracebackType, types.GetSetDescriptorType, types.MemberDescriptorType),
    *(types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType, property, re.Pattern),
    *(torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format, type(torch.ops.aten)),
)
_SHARED = (types.ModuleType, torch.jit.ScriptFunction)
_CHANGED_BY_METHODS = (list, dict, set, bytearray, collections.deque, torch.Tensor)
NOT_OF_PADDLE = N_(
    "This code uses Paddle, and only code of PyTorch can be run again on copies and compared; `%%inplace_watch` "
    "watches both."
)
_SHELL_NAMES = re.compile(r"get_ipython|exit|quit|open|display|__\w+__")
"""IPython's own names in the namespace, which stay; outputs (``_``, ``Out``) are the user's."""
_LOADS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_NAMING = (*_LOADS, *_STORES, "STORE_NAME", "IMPORT_NAME")


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One variable: an entry of a namespace, a closure's cell, a function's defaults or a class attribute."""

    label: str
    holder: Any
    key: Any
    value: Any

    def put(self, value: Any) -> None:
        """Makes the variable hold `value`; :data:`MISSING` takes it away."""
        if isinstance(self.holder, dict):
            if value is MISSING:
                self.holder.pop(self.key, None)
            else:
                self.holder[self.key] = value
        elif isinstance(self.holder, types.CellType):
            self.holder.cell_contents = value
        else:
            setattr(self.holder, self.key, value)


@dataclass(slots=True)
class State:
    """The result of the search."""

    places: list[Place] = field(default_factory=list)
    tensors: list[torch.Tensor] = field(default_factory=list)
    generators: list[torch.Generator] = field(default_factory=list)
    arrays: list[Any] = field(default_factory=list)
    """NumPy arrays."""
    bound: list[Any] = field(default_factory=list)
    """Methods such as ``seen.append``, which ``deepcopy`` takes for functions."""
    shared: list[Any] = field(default_factory=list)
    """Objects that copies share with their originals: modules, scripted functions, locks, registers of abstract
    classes."""
    optimizers: list[torch.optim.Optimizer] = field(default_factory=list)


def find_state(
    codes: Iterable[types.CodeType],
    roots: Iterable[Any],
    namespace: dict[str, Any] | None,
    *,
    without: frozenset[str] = frozenset(),
) -> State:
    """Return the variables that some code can reach.

    Args:
        codes: code that will run in `namespace`.
        namespace: the notebook's; functions that have it as their globals are followed, as are functions of the
            user's own files.
        without: names of the namespace that are left out, with all that only they lead to.

    Raises:
        CopyError: the code uses Paddle.
    """
    search = _Search(namespace, without)
    for code in codes:
        search.code(code, namespace or {})
    for root in roots:
        search.reach(root)
    search.run()
    return search.state


def bound_first(codes: Iterable[types.CodeType]) -> frozenset[str]:
    """Return the names that some code most likely binds before it reads them: their values are old."""
    first: dict[str, bool] = {}
    for code in codes:
        for operation, name in named_in(code):
            if operation.startswith(("STORE_NAME", *_LOADS)):
                first.setdefault(name, operation == "STORE_NAME")
    return frozenset(name for name, is_bound in first.items() if is_bound)


def addresses(state: State, namespace: dict[str, Any], names: Iterable[str]) -> set[int]:
    """Return the memory of the tensors found by a search, and of those reachable from some names."""
    more = _Search(namespace, frozenset())
    for name in names:
        if name in namespace:
            more.reach(namespace[name])
    more.run()
    storages = map(describe.storage, (*state.tensors, *more.state.tensors))
    return {address for address in map(describe_memory.storage_address, storages) if address}


def is_atom(value: Any) -> bool:
    """True if a copy would be the object itself."""
    return isinstance(value, (*_ATOMS, *FUNCTIONS, types.ModuleType)) and not _is_bound(value)


def _is_bound(value: Any) -> bool:
    """True if it is a method of C that changes what it belongs to, such as the hook ``gradients.append``. Those of
    generators of random numbers are not meant: ``from random import random`` belongs to the module's own."""
    return isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, _CHANGED_BY_METHODS)


def is_shells_own(name: str, value: Any) -> bool:
    """True if a name of the notebook's namespace belongs to the shell."""
    return bool(_SHELL_NAMES.fullmatch(name)) or type(value).__module__.startswith(("IPython.", "ipykernel."))


@lru_cache(maxsize=256)
def named_in(code: types.CodeType) -> tuple[tuple[str, str], ...]:
    """Return ``(operation, name)`` for each use of a name by a code, in order; cached, since it is asked before each
    run."""
    steps = dis.get_instructions(code)
    return tuple([(step.opname, str(step.argval)) for step in steps if step.opname.startswith(_NAMING)])


def codes_within(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code and that of the functions and classes that are written in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_within(constant)


def _is_paddles(value: Any) -> bool:
    """True if it is Paddle itself, or an object of one of its classes."""
    name = value.__name__ if isinstance(value, types.ModuleType) else type(value).__module__
    return isinstance(name, str) and name.split(".")[0] == "paddle"


class _Search:
    def __init__(self, namespace: dict[str, Any] | None, without: frozenset[str]) -> None:
        self.state = State()
        self._namespace = namespace
        self._without = without
        self._libraries = library_folders()
        self._seen: set[int] = set()
        self._placed: set[tuple[int, Any]] = set()
        self._queue: list[Any] = []

    def run(self) -> None:
        while self._queue:
            self._visit(self._queue.pop())

    def reach(self, value: Any) -> None:
        if id(value) not in self._seen and not isinstance(value, _ATOMS):
            self._seen.add(id(value))
            self._queue.append(value)

    def code(self, code: types.CodeType, names: dict[str, Any]) -> None:
        for part in codes_within(code):
            for operation, name in named_in(part):
                if operation == "IMPORT_NAME" and name.split(".")[0] == "paddle":
                    raise CopyError(_(NOT_OF_PADDLE))
                if names is self._namespace and name in self._without:
                    continue
                if operation.startswith(_STORES):
                    self._place(name, names, name, names.get(name, MISSING), always=True)
                elif operation.startswith(_LOADS) and name in names and not is_shells_own(name, names[name]):
                    self._place(name, names, name, names[name])
                    self._attributes(name, names[name], part)

    def _attributes(self, label: str, module: Any, code: types.CodeType) -> None:
        """Variables of the user's own module that the code names: ``settings.model``."""
        if isinstance(module, types.ModuleType) and self._is_own(getattr(module, "__file__", None)):
            for name in code.co_names:
                if name in vars(module):
                    self._place(f"{label}.{name}", vars(module), name, vars(module)[name])

    def _place(self, label: str, holder: Any, key: Any, value: Any, *, always: bool = False) -> None:
        if value is not MISSING:
            self.reach(value)
        if (is_atom(value) and not always) or (id(holder), key) in self._placed:
            return
        self._placed.add((id(holder), key))
        self.state.places.append(Place(label, holder, key, value))

    def _visit(self, value: Any) -> None:
        if _is_paddles(value):
            raise CopyError(_(NOT_OF_PADDLE))
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, torch.Tensor):
            self.state.tensors.append(value)
            hooks = describe.tensor_hooks(value).values()
            for more in (describe.gradient(value), describe.base(value), getattr(value, "__dict__", None), *hooks):
                self.reach(more)
        elif isinstance(value, torch.Generator):
            self.state.generators.append(value)
        elif type(value).__name__ == "ndarray" and type(value).__module__ == "numpy":
            self.state.arrays.append(value)
            self.reach(value.base)
        elif isinstance(value, _SHARED) or type(value).__module__ in ("_thread", "_abc"):
            self.state.shared.append(value)
        elif _is_bound(value):
            self.state.bound.append(value)
            self.reach(value.__self__)
        elif not type(value).__module__.startswith(("IPython.", "ipykernel.")):
            if isinstance(value, torch.optim.Optimizer):
                self.state.optimizers.append(value)
            for more in gc.get_referents(value):
                self.reach(more)

    def _function(self, function: types.FunctionType) -> None:
        self._seen.add(id(function.__globals__))
        own = function.__globals__ is self._namespace or self._is_own(function.__code__.co_filename)
        if own:
            self.code(function.__code__, function.__globals__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:  # a name that is not assigned yet
                continue
            self._place(f"{function.__name__}.{name}", cell, None, value, always=not isinstance(value, FUNCTIONS))
        for key in ("__defaults__", "__kwdefaults__") if own else ():  # a library asks `default is MISSING`
            defaults = getattr(function, key)
            if defaults and not all(map(is_atom, defaults.values() if isinstance(defaults, dict) else defaults)):
                self._place(f"{function.__name__}.{key}", function, key, defaults)
        self.reach(function.__dict__)

    def _class(self, cls: type) -> None:
        module = sys.modules.get(cls.__module__)
        if cls.__module__ != "__main__" and not self._is_own(getattr(module, "__file__", None)):
            return
        for base in cls.__mro__[1:]:
            self.reach(base)
        for name, value in list(vars(cls).items()):
            if isinstance(value, (staticmethod, classmethod)):
                self.reach(value.__func__)
            elif isinstance(value, property):
                for part in (value.fget, value.fset, value.fdel):
                    self.reach(part)
            elif isinstance(value, FUNCTIONS):
                self.reach(value)
            elif isinstance(cls, enum.EnumMeta):
                self.reach(value)  # members cannot be set again, and are their own copies
            elif not name.startswith("__") and not hasattr(type(value), "__get__"):
                self._place(f"{cls.__name__}.{name}", cls, name, value, always=True)

    def _is_own(self, filename: str | None) -> bool:
        known = filename is not None and not filename.startswith("<frozen")
        return known and not os.path.abspath(str(filename)).startswith(self._libraries)
