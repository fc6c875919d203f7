"""Whose array a tensor is: ``batch = torch.from_numpy(images)`` in a function is on the memory of its parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Listing
from inplace_magic.source.vocabulary import ALIASING, ARRAY_MAKERS, WITHOUT_VALUES

_FILLED_LATER = frozenset(("zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like"))


@dataclass(frozen=True)
class ArrayArgument:
    """A parameter of a function on whose array a tensor was made."""

    function: ast.FunctionDef
    parameter: str
    maker: ast.Call
    """``torch.from_numpy(images)``"""
    owner: str | None
    """The class, where the tensor is an attribute and the function made it as the object was made."""


def array_argument(listing: Listing, function: str, path: str) -> ArrayArgument | None:
    """Whose array the tensor is that a function of a text knows by a path; None where the one statement that binds the
    path makes no tensor on an argument's memory.

    Args:
        listing: the text.
        function: the qualified name of the function.
        path: ``batch``, or ``self.signal``.
    """
    owner, _, name = function.rpartition(".")
    attribute = path.startswith("self.") and path.count(".") == 1
    if not attribute and ("." in path or "[" in path):
        return None
    found: list[ArrayArgument] = []
    for node in listing.functions.get("__init__", ()) if attribute else listing.functions.get(name, ()):
        above = listing.parents.get(node)
        if attribute and not (isinstance(above, ast.ClassDef) and above.name == owner.rpartition(".")[2]):
            continue
        bound = [each for each in ast.walk(node) if _binds(each, path) and not _writes(listing, each)]
        assigned = [each for each in ast.walk(node) if isinstance(each, ast.Assign) and each.targets == bound]
        maker = assigned[0].value if assigned else None
        given = maker.args[0] if isinstance(maker, ast.Call) and _makes_a_tensor(maker) and maker.args else None
        while isinstance(given, ast.Subscript):
            given = given.value
        arguments = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        if not isinstance(given, ast.Name) or not isinstance(maker, ast.Call) or given.id not in arguments:
            return None
        if any(_binds(each, given.id) for each in ast.walk(node)):
            return None
        found.append(ArrayArgument(node, given.id, maker, owner.rpartition(".")[2] if attribute else None))
    return found[0] if len(found) == 1 else None


def gives_it_back(argument: ArrayArgument, path: str) -> bool:
    """Whether a function returns the tensor, the array, or something that holds them."""
    returned = (each.value for each in ast.walk(argument.function) if isinstance(each, (ast.Return, ast.Yield)))
    for value in returned:
        for entry in value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]:
            while entry is not None and path_text(entry) != path and (inner := _same_memory(entry)) is not None:
                entry = inner
            if entry is not None and path_text(entry) in (path, argument.parameter):
                return True
    return False


def _same_memory(node: ast.expr) -> ast.expr | None:
    """What ``batch.numpy()``, ``batch.T`` and ``batch[0]`` are on the memory of."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr in ALIASING or node.func.attr == "numpy" else None
    if isinstance(node, ast.Attribute):
        return node.value if node.attr in ALIASING else None
    return node.value if isinstance(node, ast.Subscript) else None


def read_below(listing: Listing, line: int, array: str) -> ast.expr | None:
    """Where a later line of the same block reads an array by its path; None where it is bound or filled anew before.

    Args:
        listing: the text.
        line: of the statement that handed it on.
        array: ``images``
    """
    statement = listing.statement_on(line)
    block = listing.block_of(statement) if statement is not None else []
    if statement is None or any(_binds(each, array) for each in ast.walk(statement)):
        return None
    scope = listing.scope_of(statement)
    if any(_is_filled_later(each, array) for each in ast.walk(scope)):
        return None
    for below in (each for each in block if each.lineno > statement.lineno):
        for node in ast.walk(below):
            if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
                return None  # when that runs is not known
        found = next(_reads(listing, below, array), None)
        if found is not None:
            return found
        if any(_binds(each, array) or _fills(each, array) for each in ast.walk(below)):
            return None
    return None


def _makes_a_tensor(node: ast.Call) -> bool:
    made = isinstance(node.func, ast.Attribute) and node.func.attr in ARRAY_MAKERS
    return made and isinstance(node.func, ast.Attribute) and path_text(node.func.value) == "torch"


def _binds(node: ast.AST, path: str) -> bool:
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return path_text(node) == path
    return False


def _writes(listing: Listing, node: ast.AST) -> bool:
    """Whether it is the target of ``batch -= mean``, which binds a tensor's name to the same tensor."""
    return isinstance(listing.parents.get(node), ast.AugAssign)


def _is_filled_later(node: ast.AST, array: str) -> bool:
    """Whether an array began as a buffer: ``counts = np.zeros(8)``."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return False
    called = (path_text(node.value.func) or "").rpartition(".")[2]
    return called in _FILLED_LATER and any(path_text(target) == array for target in node.targets)


def _fills(node: ast.AST, array: str) -> bool:
    """Whether ``images[:] = …`` or ``images[i] = …`` puts values into an array."""
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and path_text(node.value) == array


def _reads(listing: Listing, statement: ast.stmt, array: str) -> Iterator[ast.expr]:
    """Where a statement reads the values of an array."""
    for node in ast.walk(statement):
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or path_text(node) != array:
            continue
        above = listing.parents.get(node)
        told = isinstance(above, ast.Attribute) and above.attr in WITHOUT_VALUES
        length = isinstance(above, ast.Call) and path_text(above.func) == "len"
        filled = isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Store)
        if isinstance(node.ctx, ast.Load) and not told and not length and not filled:
            yield node
