"""The doors: where PyTorch begins to trace, to export or to run compiled code, and tells nobody.

PyTorch has no public hook there, so while a watch runs a few names of its own, :data:`DOORS`, stand for passages that
let the watch step aside first. Each gets its own object back, the very same, when the watch ends, and as well while
the watch is aside: a tracer finds PyTorch as it is. Why patching, and why so little of it:
``docs/decisions/capture.md``.

All these names are private. Where one is missing, what begins there is watched as any other program is; where its
module is not imported yet, it is waited for.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from inplace_magic.capture.stepping_aside import passages
from inplace_magic.capture.stepping_aside.aside import (
    COMPILED_BACKWARD,
    EXPORTED,
    FUNCTIONALIZED,
    GRAPHED,
    TO_ONNX,
    TRACED,
    WATCHING,
    Aside,
    Work,
)
from inplace_magic.capture.stepping_aside.late_imports import LateImports

_MISSING: Any = object()


_TEXTS = (
    *("Graph.__str__", "Graph.__repr__", "Node.__str__", "Node.__repr__"),
    *(f"{kind}.{name}" for kind in ("ScriptFunction", "ScriptMethod") for name in ("graph", "inlined_graph", "code")),
)
"""What prints TorchScript."""
_FUNC = "torch._functorch.eager_transforms"
_AOT = "torch._functorch._aot_autograd.runtime_wrappers"
"""What makes the backward of a compiled function, when it is first needed, and what runs it."""


class Door(NamedTuple):
    """One name of PyTorch's that stands for something of ours while a watch runs."""

    module: str
    name: str
    """Within the module, with a dot where it is an attribute of a class."""
    make: Callable[[Any], Any]
    """Makes what stands there from what PyTorch has there, None where it has nothing; None: leave it alone."""
    while_away: bool = True
    """Whether it stands there too while the watch is aside, where it does what PyTorch does. Not so where PyTorch
    would notice: dynamo follows functions, and the tracer of TorchScript takes names from frames."""
    during: Work | None = None
    """It stands there only while a watch is aside for this."""


DOORS = (
    Door("torch.jit._trace", "_trace_impl", passages.function(TRACED)),
    Door("torch.jit._trace", "trace_module", passages.function(TRACED)),
    Door("torch.jit._trace", "_get_trace_graph", passages.function(TRACED)),
    Door("torch.jit", "trace_module", passages.function(TRACED)),
    Door("torch.jit", "_get_trace_graph", passages.function(TRACED)),
    Door("torch._C", "ScriptFunction.__call__", passages.scripted, while_away=False),
    Door("torch._C", "ScriptMethod.__call__", passages.scripted, while_away=False),
    *(Door("torch._C", name, passages.looked_at) for name in _TEXTS),
    Door("torch.onnx.utils", "exporter_context", passages.context(TO_ONNX)),
    Door("torch.onnx._internal.torchscript_exporter.utils", "exporter_context", passages.context(TO_ONNX)),
    Door("torch.onnx._internal.exporter._compat", "export_compat", passages.function(TO_ONNX)),
    Door("torch.export.exported_program", "unset_fake_temporarily", passages.context(EXPORTED)),
    Door("torch.fx._symbolic_trace", "_new_patcher", passages.context(GRAPHED)),
    Door("torch.fx.experimental.proxy_tensor", "_MakefxTracer._init_modes_from_inputs", passages.context(GRAPHED)),
    Door(_FUNC, "_func_increment_nesting", passages.functionalized, while_away=False),
    Door(_FUNC, "_func_decrement_nesting", passages.end_of_functionalized, during=FUNCTIONALIZED),
    Door(_AOT, "track_graph_compiling", passages.context(COMPILED_BACKWARD)),
    Door(_AOT, "call_func_at_runtime_with_args", passages.function(COMPILED_BACKWARD)),
    Door("torch._C", "_CUDAGraph.replay", passages.counted, while_away=False),
    Door("torch._dynamo.eval_frame", "_TorchDynamoContext.enter_exit_hooks", passages.compiled),
    Door("torch._dynamo.eval_frame", "_maybe_set_eval_frame", passages.end_of_compiled),
)
"""Every name that is ever replaced."""


class _Place:
    """A door in its wall: the object that holds the name, what PyTorch has there, and what we put there."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self._name = door.name.rpartition(".")[2]
        self._owner: Any = None
        self._theirs: Any = None
        self._ours: Any = None

    @property
    def is_ours(self) -> bool:
        return self._ours is not None and vars(self._owner).get(self._name, _MISSING) is self._ours

    def put_ours(self) -> None:
        """Puts ours there; does nothing where the name is not there to be found, or ours is there."""
        if self._ours is not None and vars(self._owner).get(self._name, _MISSING) is self._theirs:
            setattr(self._owner, self._name, self._ours)
            return
        owner: Any = sys.modules.get(self.door.module)
        for part in self.door.name.split(".")[:-1]:
            owner = getattr(owner, part, None)
        if owner is None or self.is_ours:
            return
        theirs = vars(owner).get(self._name, _MISSING)
        if self._ours is None or theirs is not self._theirs:
            self._ours = self.door.make(None if theirs is _MISSING else theirs)
            self._owner, self._theirs = owner, theirs
        if self._ours is not None:
            setattr(owner, self._name, self._ours)

    def put_theirs(self) -> None:
        """Puts theirs back; does nothing where somebody else has put another there meanwhile."""
        if not self.is_ours:
            return
        if self._theirs is _MISSING:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._theirs)


_PLACES = tuple(_Place(door) for door in DOORS)
_MOVING = tuple(place for place in _PLACES if not place.door.while_away or place.door.during is not None)
LOCK = threading.RLock()
"""For whoever hangs them, or does what goes with it."""


def hang() -> None:
    """Makes every door ours or theirs, as the watches of all threads want it now; may be repeated."""
    with LOCK:
        _set(_PLACES)
        if WATCHING:
            _LATE.begin()
        else:
            _LATE.end()


def move() -> None:
    """Does the same for those few that depend on whether a watch is aside."""
    with LOCK:
        _set(_MOVING)


def _set(places: tuple[_Place, ...]) -> None:
    present = False
    works: list[Work | None] = []
    for aside in WATCHING.values():
        works += aside.works
        present = present or not aside.works
    for place in places:
        door = place.door
        if door.during in works if door.during is not None else present or (door.while_away and works):
            place.put_ours()
        else:
            place.put_theirs()


_LATE = LateImports({door.module for door in DOORS}, hang)


def open_for(aside: Aside) -> None:
    """Lets a watch of this thread step aside from now on."""
    with LOCK:
        WATCHING[threading.get_ident()] = aside
    hang()


def close_for(aside: Aside) -> None:
    """No longer."""
    with LOCK:
        for thread, each in list(WATCHING.items()):
            if each is aside:
                del WATCHING[thread]
    hang()
