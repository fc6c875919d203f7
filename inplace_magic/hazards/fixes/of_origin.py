"""A copy where the second reference was taken: at the origin, where the written name begins, where a list or key keeps
the tensor, or of what was meant as a snapshot and is an alias, such as ``best = model.state_dict()``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.hazards.fixes.clone import copied_as_given
from inplace_magic.hazards.fixes.target import Fix, Text, Written, text_at
from inplace_magic.source.expressions import parse, path_text, variables_read
from inplace_magic.source.listing import Edit, Listing, listing_of
from inplace_magic.source.out_of_place import receiver
from inplace_magic.source.statements import spans


def copied_where_taken(write: Written) -> Fix | None:
    """``earlier = pool[i].clone()``, ``self.before = self.now.clone()``."""
    origin = write.hazard.origin
    listing = listing_of(write.story.trace, origin)
    if origin is None or listing is None:
        return None
    statement = listing.statement_on(origin.line)
    node = listing.expression_at(origin) or (statement.value if isinstance(statement, ast.Assign) else None)
    if node is None or _is_bound_before(listing, node):
        return None
    return copied_as_given(write, Text(origin, listing, node), write.nbytes)


def _is_bound_before(listing: Listing, node: ast.expr) -> bool:
    """True if the name that an expression is given is given something above as well, as before a loop: one copy alone
    would leave that as it is."""
    statement = listing.parents.get(node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    above = (each for each in _bindings(listing, statement, statement.targets[0].id) if each.lineno < statement.lineno)
    return any(isinstance(each.value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) for each in above)


def _bindings(listing: Listing, statement: ast.stmt, path: str | None) -> Iterator[ast.Assign]:
    """Yield the assignments to a path in the function of a statement."""
    for each in listing.inside(listing.scope_of(statement)):
        if isinstance(each, ast.Assign) and path_text(each.targets[0]) == path:
            yield each


def expression_copied(write: Written) -> Fix | None:
    """``x[0], x[1] = x[1], x[0].clone()``: the very expression that took it, where the line itself does."""
    text = text_at(write.story, write.hazard.origin)
    return copied_as_given(write, text, write.nbytes) if text is not None and text.site.direct else None


def array_copied(write: Written) -> Fix | None:
    """A copy where the array was taken, which is the finding's origin."""
    text = text_at(write.story, write.hazard.origin)
    return text.replaced(f"{text.listing.text(text.node)}.copy()") if text is not None else None


def begun_with_a_copy(write: Written) -> Fix | None:
    """``h = h0.clone()``, ``mask = causal_mask(n).clone()``: the one statement above the write that binds its name."""
    listing = write.listing
    bound = _bindings(listing, write.statement, write.path)
    above = [node for node in bound if node.lineno < write.statement.lineno and len(node.targets) == 1]
    return write.copied(above[0].value) if listing.whole and len(above) == 1 else None


def snapshot_taken(write: Written) -> Fix | None:
    """The one statement of the cell that took the snapshot takes a copy."""
    listing = write.listing
    places = write.hazard.read.chain if write.hazard.read is not None and listing.whole else ()
    compared = {name for place in places for name in variables_read(parse(place.statement))}
    found = [
        (node.value, references)
        for node in listing.nodes
        if isinstance(node, ast.Assign) and node.lineno < write.statement.lineno and len(node.targets) == 1
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in compared
        if (references := _references(node.value)) and write.is_read_after(node.targets[0].id)
    ]
    if len(found) != 1:
        return None
    value, references = found[0]
    return deep_copied(write, listing, value) if _is_state_dict(value) else write.copied(*references)


def state_copied_where_taken(write: Written) -> Fix | None:
    """``self.weights = copy.deepcopy(model.state_dict())``: the expression that the finding names as its origin."""
    text = text_at(write.story, write.hazard.origin)
    whole = text is not None and text.listing.whole and _is_state_dict(text.node)
    return deep_copied(write, text.listing, text.node) if text is not None and whole else None


def _references(value: ast.expr) -> list[ast.expr]:
    """Return the parts of an expression that give existing tensors; empty where anything else is among them."""
    if isinstance(value, (ast.Tuple, ast.List)):
        inside = [_references(entry) for entry in value.elts]
        return [node for entry in inside for node in entry] if all(inside) else []
    if isinstance(value, ast.ListComp):
        return _references(value.elt)
    if isinstance(value, ast.DictComp):
        return _references(value.value)
    part = isinstance(value, (ast.Attribute, ast.Subscript)) and path_text(value) is not None
    return [value] if part or receiver(value, "detach", "state_dict") is not None else []


def _is_state_dict(value: ast.expr) -> bool:
    return receiver(value, "state_dict") is not None


def deep_copied(write: Written, listing: Listing, old: ast.expr, module: ast.expr | None = None) -> Fix | None:
    """A statement with ``copy.deepcopy(…)`` for one of its expressions, and the import where its text has none.

    Args:
        write: the write of the finding.
        listing: the text that is changed.
        old: the expression in it that is replaced.
        module: the expression of which a deep copy takes its place; None: the replaced one, the state of a module.
    """
    edit = listing.substitute([(old, f"copy.deepcopy({listing.text(module or old)})")])
    if edit is None:
        return None
    imported = [name for node in listing.tree.body if isinstance(node, ast.Import) for name in node.names]
    known = any(name.name == "copy" and name.asname is None for name in imported)
    edits = (edit,) if known else (_import(listing, old.lineno), edit)
    price = _price_of_module(write, path_text(module or receiver(old)))
    site = write.hazard.origin if listing is not write.listing and write.hazard.origin is not None else write.site
    return Fix(site, listing, edits, price)


def _import(listing: Listing, line: int) -> Edit:
    """``import copy`` before the first import of the cell, or before the statement at the top that needs it."""
    top = next((node for node in listing.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))), None)
    first = top or next(node for node in listing.tree.body if spans(node, line))
    return Edit(first.lineno, first.lineno, ("import copy", listing.lines[first.lineno - 1]))


def _price_of_module(write: Written, owner: str | None) -> int | None:
    """Return the bytes of all parameters and buffers that the namespace reaches through a module."""
    tensors = {n.tensor for n in write.story.trace.names if owner and n.name.startswith((f"{owner}.", f"{owner}["))}
    sizes = [write.story.observations[t].nbytes for t in tensors if t in write.story.observations]
    return sum(size or 0 for size in sizes) or None


def where_it_was_kept(write: Written) -> Fix | None:
    """``features.append(x.clone())``, ``kept["pre"] = output.clone()``: what keeps an activation keeps a copy."""
    listing, trace, site = write.listing, write.story.trace, write.site
    tensor = write.hazard.tensor if write.hazard.tensor is not None else -1
    held = {tensor, *write.story.aliases.detached.get(tensor, ())}
    containers = {entry.name.split("[")[0] for entry in trace.names if entry.tensor in held}
    found: list[ast.expr] = []
    for alias in trace.aliases if listing.whole else ():
        target, bracket, _ = alias.target.partition("[")
        if not bracket or (alias.cell, alias.file) != (site.cell, site.file):
            continue
        if alias.function == site.function:
            kept = alias.source == write.path if write.path is not None else target in containers
        else:
            kept = target in containers and bool(trace.hooked_modules)
        found += _stored(listing.statement_on(alias.line), alias.source) if kept else ()
    return write.copied(*found) if len(found) == 1 else None


def in_each_slot(write: Written) -> Fix | None:
    """``yield state.clone()``, ``history.append(state.clone())``, ``[torch.zeros(3) for _ in range(2)]``."""
    listing, path = write.listing, write.path
    if not listing.whole or path is None or _is_of_the_class(write, path):
        return None
    if "[" in path:
        return _repeated_list(write, path.split("[")[0])
    nodes = listing.inside(listing.scope_of(write.statement))
    attribute = path.rpartition(".")[2]  # `self.state` may get out of its object another way: `state = env.state`
    elsewhere = [a for a in write.story.trace.aliases if a.source.endswith(f".{attribute}") and a.target != "return"]
    late = path in write.site.parameters or ("." in path and bool(elsewhere))
    if late and any(isinstance(node, ast.Return) for node in nodes):
        return None
    stored = [
        each for node in nodes if isinstance(node, (ast.Yield, ast.Call, ast.Return)) for each in _stored(node, path)
    ]
    return write.copied(*stored) if len(stored) == 1 else None


def _is_of_the_class(write: Written, path: str) -> bool:
    """True if a class binds the attribute, so that its objects begin with one tensor: copies of it come too late."""
    owner, _, attribute = path.rpartition(".")
    bodies = (node.body for node in write.listing.nodes if isinstance(node, ast.ClassDef))
    entries = [entry for body in bodies for entry in body if isinstance(entry, (ast.Assign, ast.AnnAssign))]
    bound = {path_text(target) for e in entries for target in (e.targets if isinstance(e, ast.Assign) else [e.target])}
    values = {path_text(entry.target): entry.value for entry in entries if isinstance(entry, ast.AnnAssign)}
    return bool(owner) and attribute in bound and values.get(attribute, entries) is not None


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
