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
            argument = argument_for(site, path)
            if argument is not None:
                found = expressions.path_text(expressions.without_aliasing(argument))
                outer |= {found} if found is not None else set()
        paths, site = outer, site.caller
    return paths


def argument_for(site: Callsite, name: str) -> ast.expr | None:
    """Return what the caller's line hands over for a parameter of the function of `site`; None if unknown.

    ``torch.autograd.grad(loss, weight)`` hands nothing to the hook that autograd calls meanwhile, and
    ``Double.apply(x)`` hands `x` to the second parameter of ``def forward(ctx, x)``.
    """
    if site.caller is None or is_called_by_autograd(site):
        return None
    node, parameters = expressions.parse(site.caller.expression), site.parameters
    applied = (
        isinstance(node, ast.Call) and expressions.last_name(node.func) == "apply" != site.function.rpartition(".")[2]
    )
    if applied and isinstance(node, ast.Call) and len(parameters) > len(node.args):
        parameters = parameters[1:]
    return expressions.parameter_argument(site.caller.expression, parameters, name)


def is_called_by_autograd(site: Callsite) -> bool:
    """True if the caller's line runs backward, and the function of `site` is a hook or a ``backward(ctx, grad)``."""
    node = expressions.parse(site.caller.expression) if site.caller is not None else None
    if not isinstance(node, ast.Call) or expressions.last_name(node.func) not in ("backward", "grad"):
        return False
    is_method = site.parameters[:1] in (("self",), ("cls",))
    own = site.function.rpartition(".")[2] == expressions.last_name(node.func) and (
        is_method or isinstance(node.func, ast.Name)
    )
    return not own


@lru_cache(maxsize=4096)
def paths_in(expression: str) -> frozenset[str]:
    """Return the paths that an expression reads."""
    node = expressions.parse(expression)
    if isinstance(node, ast.Assign):
        node = node.value
    return frozenset(filter(None, map(expressions.path_text, ast.walk(node)))) if node is not None else frozenset()
