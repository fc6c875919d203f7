"""Which of the user's names a call read a tensor by, seen from a function further out in the chain of callers.

``lm_loss(input_ids, labels)`` calls ``weight[ids]``: the call reads ``ids``, and one level out the same tensor is
read as ``input_ids``.
"""

from __future__ import annotations

import ast
from collections.abc import Set
from functools import lru_cache

from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions


def level(site: Callsite | None, like: Callsite) -> Callsite | None:
    """Return the place in the chain of `site` that lies in the same function as `like`."""
    while site is not None:
        if site.same_function(like):
            return site
        site = site.caller
    return None


def class_around(site: Callsite | None, method: str) -> str | None:
    """Return the class in whose method of a name a place lies, or a caller of it: ``Square`` of ``Square.backward``."""
    while site is not None:
        owner, _dot, name = site.function.rpartition(".")
        if owner and name == method:
            return owner
        site = site.caller
    return None


def paths_read(site: Callsite | None, at: Callsite) -> Set[str]:
    """Return the paths (``x``, ``self.h``, ``features["pre"]``) read by a call's expression, in the names of the
    function of `at`; empty if the call was not made from there."""
    if site is None:
        return set()
    paths: Set[str] = paths_in(site.expression)
    while not site.same_function(at):
        if site.caller is None:
            return set()
        outer: set[str] = set()
        for path in paths:
            argument = expressions.parameter_argument(site.caller.expression, site.parameters, path)
            if argument is not None:
                found = expressions.path_text(expressions.without_aliasing(argument))
                outer |= {found} if found is not None else set()
        paths, site = outer, site.caller
    return paths


@lru_cache(maxsize=4096)
def paths_in(expression: str) -> frozenset[str]:
    """Return the paths that an expression reads."""
    node = expressions.parse(expression)
    if node is None:
        return frozenset()
    if isinstance(node, (ast.Assign, ast.AugAssign)) and not isinstance(node, ast.AugAssign):
        node = node.value
    found = set()
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Name, ast.Attribute, ast.Subscript)):
            text = expressions.path_text(inner)
            if text is not None:
                found.add(text)
    return frozenset(found)
