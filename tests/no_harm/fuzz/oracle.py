"""What a cell really did: a plain run in which every statement is bracketed by looks at every variable.

Nothing here knows the package. The oracle keeps every tensor object that a variable ever pointed to, so neither an
``id`` nor an address comes twice in its run; after each statement it notes versions, storages and values.
"""

from __future__ import annotations

import linecache
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import torch
from no_harm.fuzz.cells import Cell
from torch import nn
from torch.nn import functional as F

_numbers = count(1)
VERSION_ERROR = re.compile(r"is at version (\d+); expected version (\d+) instead")
SEED = 20_240_229


@dataclass(frozen=True)
class Seen:
    """One tensor at one moment."""

    version: int
    storage: int
    values: tuple[float, ...]


@dataclass(frozen=True)
class Execution:
    """One run of one simple statement."""

    line: int
    before: dict[int, Seen]
    """By the number of the tensor object, for every object met so far."""
    after: dict[int, Seen]
    bound: dict[str, int]
    """The number of the object that each variable points to afterwards."""
    error: str | None
    """``RuntimeError: text`` when it raised."""

    @property
    def moved(self) -> dict[int, tuple[int, int]]:
        """(version before, version after) of the objects whose version moved."""
        return {
            number: (seen.version, self.after[number].version)
            for number, seen in self.before.items()
            if seen.version != self.after[number].version
        }


@dataclass
class Watcher:
    """Looks at the variables of one namespace before and after each statement."""

    namespace: dict[str, Any]
    executions: list[Execution] = field(default_factory=list)
    objects: list[torch.Tensor] = field(default_factory=list)
    """Every tensor met, kept alive; the position is its number."""
    _numbers: dict[int, int] = field(default_factory=dict)
    _pending: tuple[int, dict[int, Seen]] | None = None

    def before(self, line: int) -> None:
        """A statement is about to run. When an earlier one has not ended, it raised, and this is its handler."""
        if self._pending is not None:
            self.raised(sys.exc_info()[1])
        self._pending = line, self.look()

    def after(self, line: int) -> None:
        """A statement has ended."""
        self._end(None)

    def raised(self, error: BaseException | None) -> None:
        """The pending statement ended with an error."""
        if self._pending is not None:
            self._end(said(error) or "unknown")

    def _end(self, error: str | None) -> None:
        assert self._pending is not None
        line, before = self._pending
        self._pending = None
        after = self.look()
        bound = {name: self._numbers[id(value)] for name, value in self.namespace.items() if is_tensor(value)}
        self.executions.append(Execution(line, before, after, bound, error))

    def look(self) -> dict[int, Seen]:
        """All objects met so far, as they are now."""
        for _, tensor in tensors_of(self.namespace):
            if id(tensor) not in self._numbers:
                self._numbers[id(tensor)] = len(self.objects)
                self.objects.append(tensor)
        return {number: see(tensor) for number, tensor in enumerate(self.objects)}


def is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def tensors_of(namespace: dict[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors that variables point to, also from within a list or tuple, each with its path."""
    for name, value in namespace.items():
        if is_tensor(value):
            yield name, value
        elif isinstance(value, (list, tuple)):
            yield from ((f"{name}[{i}]", item) for i, item in enumerate(value) if is_tensor(item))


def see(tensor: torch.Tensor) -> Seen:
    """One look; ``.data`` because anything else on a view of a written base may raise."""
    values = tuple(tensor.data.reshape(-1).tolist())
    return Seen(tensor._version, tensor.untyped_storage().data_ptr(), values)


def said(error: BaseException | None) -> str | None:
    """``RuntimeError: text``."""
    return None if error is None else f"{type(error).__name__}: {error}"


@dataclass
class Ran:
    """A run of a cell, whichever way."""

    namespace: dict[str, Any]
    error: BaseException | None
    random_state: bytes

    def outcome(self) -> dict[str, Any]:
        """All that can be compared between two runs: variables, gradients, aliasing, error, random generator."""
        found: dict[str, Any] = {"error": said(self.error), "random": self.random_state}
        objects: dict[int, int] = {}
        storages: dict[int, int] = {}
        found["names"] = sorted(name for name in self.namespace if not name.startswith("__"))
        for path, tensor in tensors_of(self.namespace):
            facts = _facts(tensor)
            facts["object"] = objects.setdefault(id(tensor), len(objects))
            facts["memory"] = storages.setdefault(tensor.untyped_storage().data_ptr(), len(storages))
            grad = _tried(lambda: tensor.grad if tensor.is_leaf else None)  # noqa: B023  read at once
            facts["grad"] = _facts(grad) if is_tensor(grad) else grad
            found[path] = facts
        return found


def _facts(tensor: torch.Tensor) -> dict[str, Any]:
    return {
        "type": type(tensor).__name__,
        "bits": tensor.data.contiguous().view(torch.int32).tolist() if tensor.numel() else [],
        "layout": (tuple(tensor.shape), tensor.stride(), tensor.storage_offset()),
        "version": tensor._version,
        "flags": (tensor.requires_grad, _tried(lambda: tensor.is_leaf), tensor._is_view()),
        "graph": _graph(tensor),
    }


def _tried(read: Callable[[], Any]) -> Any:
    """What `read` gives, or the text of the error: autograd refuses some reads of a view whose base was written."""
    try:
        return read()
    except RuntimeError as error:
        return said(error)


def _graph(tensor: torch.Tensor) -> list[str]:
    todo = [_tried(lambda: tensor.grad_fn)]
    if isinstance(todo[0], str):
        return todo
    names: list[str] = []
    while todo and len(names) < 100:
        node = todo.pop()
        if node is not None:
            names.append(f"{node.name()} {sorted(node.metadata)}")
            todo += [behind for behind, _ in node.next_functions]
    return names


def run(
    source: str,
    begin: Callable[[str], None] = lambda _: None,
    extra: dict[str, Any] | None = None,
    warned: list[str] | None = None,
    end: Callable[[], None] = lambda: None,
) -> Ran:
    """Runs a cell as a notebook does: under a file name of its own whose text ``linecache`` knows.

    Args:
        source: the cell; its first line calls ``begin()``.
        begin: called by that line with the file name.
        extra: more names for the namespace.
        warned: collects the texts of all warnings; they are dropped when None.
        end: called when the cell has ended, however it did.
    """
    filename = f"<cell-{next(_numbers)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace: dict[str, Any] = {"__name__": "fuzzed"}
    given = {"torch": torch, "nn": nn, "F": F, "begin": lambda: begin(filename), **(extra or {})}
    namespace.update(given)
    torch.manual_seed(SEED)
    error: BaseException | None = None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore" if warned is None else "always")
            exec(compile(source, filename, "exec"), namespace)
    except Exception as raised:  # whatever the cell raises is its outcome
        error = raised.with_traceback(None)
        error.__context__ = None
    finally:
        end()
        del linecache.cache[filename]
        if warned is not None:
            warned += [str(warning.message) for warning in caught]
    state = torch.get_rng_state().numpy().tobytes()
    for name in (*given, "__builtins__", "__name__", "scaled", "shifted", "squashed", "rectified"):
        namespace.pop(name, None)
    return Ran(namespace, error, state)


def observe(cell: Cell) -> list[Execution]:
    """Every statement that ran, with all variables before and after it."""
    watcher: Watcher | None = None

    def start(_: str) -> None:
        nonlocal watcher
        watcher = Watcher(sys._getframe(2).f_globals)

    def before(line: int) -> None:
        assert watcher is not None
        watcher.before(line)

    def after(line: int) -> None:
        assert watcher is not None
        watcher.after(line)

    source = cell.source(lambda line, number: f"before({number}); {line.text}; after({number})")
    ran = run(source, start, {"before": before, "after": after})
    assert watcher is not None
    watcher.namespace = ran.namespace
    watcher.raised(ran.error)
    return watcher.executions


def failing_forward(cell: Cell) -> tuple[int, str] | None:
    """PyTorch's own word on which line saved the tensor that backward failed on, and which node: anomaly mode prints
    the traceback of that forward call. None when the cell raised no such error, or anomaly mode did not say."""
    warned: list[str] = []
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        run(cell.source(), warned=warned)
    told = []
    for text in warned:
        node = re.search(r"Error detected in (\w+)\.", text)
        lines = re.findall(r'File "<cell-\d+>", line (\d+), in <module>', text)
        if node is not None:
            told.append((int(lines[-1]), node[1]) if lines else None)
    return told[0] if len(told) == 1 else None  # of several failed backwards, it does not say which is meant
