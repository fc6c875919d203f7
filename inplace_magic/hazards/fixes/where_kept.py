"""Fixes where a tensor is kept: in a list, under a key, or by one who yields it again and again."""

from __future__ import annotations

import ast

from inplace_magic.hazards.fixes.target import Change, Fix, Written
from inplace_magic.source.expressions import path_text
from inplace_magic.source.out_of_place import cloned, receiver


def where_it_was_kept(write: Written) -> Fix | None:
    """``features.append(x.clone())``, ``kept["pre"] = output.clone()``: what keeps an activation keeps a copy."""
    listing, trace, site = write.listing, write.story.trace, write.site
    tensor = write.hazard.tensor if write.hazard.tensor is not None else -1
    held = {tensor, *write.story.aliases.detached.get(tensor, ())}
    containers = {entry.name.split("[")[0] for entry in trace.names if entry.tensor in held}
    changes: list[Change] = []
    for alias in trace.aliases if listing.whole else ():
        target, bracket, _ = alias.target.partition("[")
        if not bracket or (alias.cell, alias.file) != (site.cell, site.file):
            continue
        if alias.function == site.function:
            kept = alias.source == write.path if write.path is not None else target in containers
        else:
            kept = target in containers and bool(trace.hooked_modules)
        stored = _stored(listing.statement_on(alias.line), alias.source) if kept else ()
        changes += [cloned(listing, node) for node in stored]
    return write.substituted(changes, write.nbytes) if len(changes) == 1 else None


def in_each_slot(write: Written) -> Fix | None:
    """``yield state.clone()``, ``history.append(state.clone())``, ``[torch.zeros(3) for _ in range(2)]``."""
    listing, path = write.listing, write.path
    if not listing.whole or path is None or _is_of_the_class(write, path):
        return None
    if "[" in path:
        return _repeated_list(write, path.split("[")[0])
    nodes = listing.inside(listing.scope_of(write.statement))
    late = path in write.site.parameters or _taken_elsewhere(write, path)
    if late and any(isinstance(node, ast.Return) for node in nodes):
        return None
    stored = [
        each for node in nodes if isinstance(node, (ast.Yield, ast.Call, ast.Return)) for each in _stored(node, path)
    ]
    return write.substituted([cloned(listing, each) for each in stored], write.nbytes) if len(stored) == 1 else None


def _is_of_the_class(write: Written, path: str) -> bool:
    """True if a class binds the attribute, so that its objects begin with one tensor: copies of it come too late."""
    owner, _, attribute = path.rpartition(".")
    bodies = (node.body for node in write.listing.nodes if isinstance(node, ast.ClassDef))
    entries = [entry for body in bodies for entry in body if isinstance(entry, (ast.Assign, ast.AnnAssign))]
    bound = {path_text(target) for e in entries for target in (e.targets if isinstance(e, ast.Assign) else [e.target])}
    values = {path_text(entry.target): entry.value for entry in entries if isinstance(entry, ast.AnnAssign)}
    return bool(owner) and attribute in bound and values.get(attribute, entries) is not None


def _taken_elsewhere(write: Written, path: str) -> bool:
    """True if ``self.state`` gets out of its object another way, too: ``state = env.state``."""
    attribute = path.rpartition(".")[2]
    aliases = write.story.trace.aliases
    return "." in path and any(a.source.endswith(f".{attribute}") and a.target != "return" for a in aliases)


def _repeated_list(write: Written, name: str) -> Fix | None:
    """``[torch.zeros(3) for _ in range(2)]`` for ``[torch.zeros(3)] * 2``."""
    listing = write.listing
    for node in listing.nodes:
        if not isinstance(node, ast.Assign) or path_text(node.targets[0]) != name:
            continue
        whole = node.value
        if isinstance(whole, ast.Call) and path_text(whole.func) in ("deque", "collections.deque") and whole.args:
            whole = whole.args[0]
        repeats = isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Mult)
        if isinstance(whole, ast.BinOp) and repeats and isinstance(whole.left, ast.List) and len(whole.left.elts) == 1:
            entry = whole.left.elts[0]
            new = f"[{listing.text(entry)} for _ in range({listing.text(whole.right)})]"
            return write.substituted([(whole, new)], write.nbytes) if isinstance(entry, ast.Call) else None
    return None


def _stored(node: ast.AST | None, path: str) -> list[ast.expr]:
    """Return the reads of `path` that a statement stores as they are: the value of an assignment, an argument of
    ``append``, what is yielded; also inside a tuple."""
    if isinstance(node, ast.Expr):
        node = node.value
    if isinstance(node, ast.Assign):
        values = [node.value]
    elif isinstance(node, (ast.Yield, ast.Return)):
        values = [node.value] if node.value is not None else []
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("append", "insert"):
        values = list(node.args)
    else:
        return []
    inside = [entry for value in values for entry in (value.elts if isinstance(value, ast.Tuple) else [value])]
    return [value for value in inside if path in (path_text(value), path_text(receiver(value, "detach")))]
