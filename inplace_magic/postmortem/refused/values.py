"""From an expression of the user's to the object that it stands for, read off what holds it: nothing is evaluated.

Names are looked up in scopes; attributes in the object's own dict or a module's tables; entries in plain lists, tuples
and dicts. Whatever else an expression does is unknown, since to know it would be to run it.
"""

from __future__ import annotations

import ast
import builtins
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inplace_magic.postmortem.reading import MISSING, kept, module_of
from inplace_magic.source.expressions import parse, path_text
from inplace_magic.source.vocabulary import WITHOUT_VALUES

Scopes = Sequence[Mapping[str, object]]
_MOST_NODES = 2_000


def value_of(node: ast.AST | None, scopes: Scopes) -> object:
    """Return what an expression stands for; ``MISSING`` where that cannot be read."""
    if isinstance(node, ast.Name):
        known = next((names[node.id] for names in scopes if node.id in names), MISSING)
        return vars(builtins).get(node.id, MISSING) if known is MISSING else known
    if isinstance(node, ast.Attribute):
        return kept(value_of(node.value, scopes), node.attr)
    if isinstance(node, ast.Subscript):
        return _entry(value_of(node.value, scopes), node.slice)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Starred):
        return value_of(node.value, scopes)
    return MISSING


def held_at(path: str, scopes: Scopes) -> list[object]:
    """Return what a name or path stands for, and the entries of a tuple or list there; empty where that cannot be
    read."""
    value: Any = value_of(parse(path), scopes)
    return [] if value is MISSING else [value, *(value if type(value) in (tuple, list) else ())]


def _entry(owner: object, index: ast.expr) -> object:
    try:
        key = ast.literal_eval(index)
    except ValueError:
        return MISSING
    kind = type(owner)
    held: Any = owner
    if kind in (list, tuple) and type(key) is int:
        return held[key] if -len(held) <= key < len(held) else MISSING
    if kind in (dict, OrderedDict) and type(key) in (str, int):
        return dict.get(held, key, MISSING)
    return kept(owner, str(key)) if module_of(kind).startswith("torch.nn.") and type(key) is int else MISSING


def paths_in(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the longest paths of an expression, in the order of the text: ``self.w`` and ``x[0]`` of
    ``self.w * f(x[0])``. What is called is not among them, but what a method is called on; nor is what is only asked
    for its shape."""
    stack: list[ast.AST] = [node]
    for _step in range(_MOST_NODES):
        if not stack:
            return
        each = stack.pop()
        if _tells_no_values(each):
            continue
        if isinstance(each, ast.expr) and path_text(each) is not None:
            yield each
            continue
        if isinstance(each, ast.Call):
            called = [each.func.value] if isinstance(each.func, ast.Attribute) else []
            called = [] if called and _tells_no_values(each.func) else called
            stack += reversed([*called, *each.args, *(word.value for word in each.keywords)])
        elif isinstance(each, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        elif isinstance(each, ast.Subscript):
            stack += [each.slice, each.value]
        else:
            stack += reversed(list(ast.iter_child_nodes(each)))


def _tells_no_values(node: ast.AST) -> bool:
    """True if it is ``x.shape``, ``x.shape[0]`` or the ``x.size`` of a call."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Attribute) and node.attr in WITHOUT_VALUES
