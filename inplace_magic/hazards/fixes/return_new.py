"""Fixes of functions that write what they were handed: they return a new tensor instead, where somebody takes it.

A hook, a custom ``backward`` or a parametrization is called by torch, which uses what it returns. A helper that the
user calls for its effect is another matter: there every call would have to change, so there is advice and no diff.
"""

from __future__ import annotations

import ast

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.out_of_place import chain_base, new_value
from inplace_magic.hazards.fixes.target import Fix, Written, loads_after, written
from inplace_magic.language import _, spelled
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Edit
from inplace_magic.source.variables import mentions

_CONSTANT = {"zero_": "torch.zeros_like({name})"}
"""In-place methods whose twin is a function, and needs nothing but the tensor."""


def new_gradient(write: Written) -> Fix | None:
    """A hook, or ``backward``, gives a new gradient instead of writing the one that it was handed."""
    listing, statement = write.listing, write.statement
    given = _given_by_lambda(write)
    scope = listing.scope_of(statement)
    if given is not None or not isinstance(statement, ast.Expr) or not isinstance(scope, ast.FunctionDef):
        return given
    returns = any(isinstance(node, (ast.Return, ast.Yield)) for node in ast.walk(scope))
    name = path_text(chain_base(statement.value))
    if returns or scope.body[-1] is not statement or write.site.parameters != (name,):
        return None
    value = new_value(listing, statement.value) or _constant(write, name)
    edit = listing.replace(statement, f"return {value}") if value is not None else None
    return Fix(write.site, listing, (edit,), _nbytes(write)) if edit is not None else None


def _given_by_lambda(write: Written) -> Fix | None:
    """``lambda grad: grad * 0.1`` for ``lambda grad: grad.mul_(0.1)``."""
    node = write.listing.expression_at(write.site)
    scope = write.listing.parents.get(node) if node is not None else None
    if node is None or not isinstance(scope, ast.Lambda) or write.site.parameters != (path_text(chain_base(node)),):
        return None
    value = new_value(write.listing, node)
    edit = write.listing.substitute([(node, value)]) if value is not None else None
    return Fix(write.site, write.listing, (edit,), _nbytes(write)) if edit is not None else None


def _constant(write: Written, name: str | None) -> str | None:
    node = write.statement.value if isinstance(write.statement, ast.Expr) else None
    method = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    imports = (entry for entry in write.listing.nodes if isinstance(entry, ast.Import))
    known = any(alias.name == spelled("torch") and alias.asname is None for entry in imports for alias in entry.names)
    return spelled(_CONSTANT[method]).format(name=name) if known and name is not None and method in _CONSTANT else None


def new_value_returned(write: Written) -> Fix | None:
    """``return weight.relu()`` for ``return weight.relu_()``."""
    node = write.listing.expression_at(write.site)
    if node is None or not isinstance(write.statement, ast.Return) or write.statement.value is not node:
        return None
    value = new_value(write.listing, node)
    edit = write.listing.substitute([(node, value)]) if value is not None else None
    return Fix(write.site, write.listing, (edit,), _nbytes(write)) if edit is not None else None


def from_the_hook(write: Written) -> Fix | None:
    """A forward hook that wrote its ``output`` writes a copy and returns it."""
    listing, statement, path = write.listing, write.statement, write.path
    scope = listing.scope_of(statement)
    if not isinstance(scope, ast.FunctionDef) or not listing.whole or not listing.alone(statement):
        return None
    names = [argument.arg for argument in scope.args.args]
    returns = any(isinstance(node, (ast.Return, ast.Yield)) for node in ast.walk(scope))
    if len(names) != 3 or path != names[2] or returns or statement not in scope.body or not _is_hook(write, scope):
        return None
    last, indent = scope.body[-1], listing.indent(statement)
    edits = [Edit(statement.lineno, statement.lineno - 1, (f"{indent}{path} = {path}.clone()",))]
    end = last.end_lineno or last.lineno
    edits.append(Edit(end + 1, end, (f"{indent}return {path}",)))
    sentence = _("Let the hook write a copy and return it: the module then gives that instead of its output.")
    return Fix(write.site, listing, tuple(edits), _nbytes(write), sentence)


def _is_hook(write: Written, scope: ast.FunctionDef) -> bool:
    """Whether a function is handed to ``register_forward_hook``, itself or by the function that makes it, and is
    called nowhere."""
    outer = write.listing.scope_of(scope)
    makers = {scope.name, outer.name} if isinstance(outer, ast.FunctionDef) else {scope.name}
    calls = [node for node in write.listing.nodes if isinstance(node, ast.Call)]
    if any(path_text(node.func) == scope.name for node in calls):
        return False
    for node in calls:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "register_forward_hook" and node.args:
            hook = node.args[0]
            if path_text(hook.func if isinstance(hook, ast.Call) else hook) in makers:
                return True
    return False


def advice(story: Story, hazard: Hazard) -> str:
    """What to do where no diff is certain and a copy before the write would be lost; empty where it would not."""
    write = written(story, hazard)
    if write is None:
        return ""
    path, scope = write.path, write.listing.scope_of(write.statement)
    leaf = write.meta is not None and write.meta.is_trainable
    if path is None or leaf or not write.site.direct:
        return ""
    loops = (node for node in write.listing.around(write.statement) if isinstance(node, ast.For))
    read_later = any(True for _load in loads_after(write.listing, write.statement, path))
    if not read_later and any(mentions(loop.target, path) for loop in loops):
        return _(
            "`{name}` is an entry of what the loop goes through: build a new list or dict of new tensors instead of "
            "writing these."
        ).format(name=path)
    if path in write.site.parameters and path != "self" and path not in bound_in(scope) and not read_later:
        return _(
            "`{function}` writes its argument: let it make a new tensor and return that, and use what it gives."
        ).format(function=write.site.function.rpartition(".")[2])
    return ""


def bound_in(scope: ast.AST) -> set[str]:
    """The names that a function binds by plain assignments."""
    assigned = (target for node in ast.walk(scope) if isinstance(node, ast.Assign) for target in node.targets)
    inside = (node for target in assigned for node in ast.walk(target))
    return {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _nbytes(write: Written) -> int | None:
    return write.meta.nbytes if write.meta is not None else None
