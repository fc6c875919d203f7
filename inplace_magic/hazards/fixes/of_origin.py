"""A copy where the second reference was taken: at the finding's origin, where the written name begins, or of what was
meant as a snapshot and is an alias, such as ``best = model.state_dict()`` and ``before = [p.detach() …]``."""

from __future__ import annotations

import ast

from inplace_magic.hazards.fixes.clone import copied_as_given, operands
from inplace_magic.hazards.fixes.out_of_place import cloned
from inplace_magic.hazards.fixes.target import Fix, Written, fix_of, loads_after
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import parse, path_text
from inplace_magic.source.listing import Edit, Listing, listing_of
from inplace_magic.source.variables import variables_read


def copied_where_taken(write: Written) -> Fix | None:
    """``earlier = pool[i].clone()``, ``self.before = self.now.clone()``."""
    origin = write.hazard.origin
    listing = listing_of(write.story.trace, origin)
    if origin is None or listing is None:
        return None
    statement = listing.statement_on(origin.line)
    node = listing.expression_at(origin) or (statement.value if isinstance(statement, ast.Assign) else None)
    return None if node is None or _is_bound_before(listing, node) else _copied(write, origin, listing, node)


def _is_bound_before(listing: Listing, node: ast.expr) -> bool:
    """True if the name that an expression is given is given something above as well, as before a loop: one copy alone
    would leave that as it is."""
    statement = listing.parents.get(node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    bound = (each for each in ast.walk(listing.scope_of(statement)) if isinstance(each, ast.Assign))
    above = [each for each in bound if each.lineno < statement.lineno and path_text(each.targets[0]) == name]
    return any(isinstance(each.value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) for each in above)


def expression_copied(write: Written) -> Fix | None:
    """``x[0], x[1] = x[1], x[0].clone()``: the very expression that took it, where the line itself does."""
    found = write.text_at(write.hazard.origin)
    return _copied(write, *found) if found is not None and found[0].direct else None


def _copied(write: Written, origin: Callsite, listing: Listing, node: ast.expr) -> Fix | None:
    change = copied_as_given(write, origin, listing, node)
    return fix_of(origin, listing, [change] if change is not None else (), write.nbytes)


def array_copied(write: Written) -> Fix | None:
    """A copy where the array was taken, which is the finding's origin."""
    listing, origin = write.listing, write.hazard.origin
    node = listing.expression_at(origin) if origin is not None else None
    return fix_of(write.site, listing, [(node, f"{listing.text(node)}.copy()")] if node is not None else ())


def begun_with_a_copy(write: Written) -> Fix | None:
    """``h = h0.clone()``, ``mask = causal_mask(n).clone()``: the last statement above the write that binds its name."""
    listing, path = write.listing, write.path
    bound = [
        node
        for node in ast.walk(listing.scope_of(write.statement))
        if isinstance(node, ast.Assign)
        and node.lineno < write.statement.lineno
        and [path_text(target) for target in node.targets] == [path]
    ]
    return copied(write, listing, bound[0].value) if listing.whole and len(bound) == 1 else None


def copied(write: Written, listing: Listing, value: ast.expr) -> Fix | None:
    """A copy in the place of what an expression gives, at the price of the tensor that was written."""
    return fix_of(write.site, listing, [cloned(listing, value)], write.nbytes)


def snapshot_taken(write: Written) -> Fix | None:
    """The one statement of the cell that took the snapshot takes a copy."""
    listing = write.listing
    if not listing.whole:
        return None
    places = write.hazard.read.chain if write.hazard.read is not None else ()
    compared = {name for place in places for name in variables_read(parse(place.statement))}
    found: list[tuple[ast.Assign, list[ast.expr]]] = []
    for node in listing.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            references = _references(node.value)
            before = node.lineno < write.statement.lineno
            read = any(True for _ in loads_after(listing, write.statement, node.targets[0].id))
            if references and before and read and node.targets[0].id in compared:
                found.append((node, references))
    if len(found) != 1:
        return None
    statement, references = found[0]
    if _is_state_dict(statement.value):
        return _deep_copy(write, listing, statement, statement.value)
    return fix_of(write.site, listing, [cloned(listing, node) for node in references], write.nbytes)


def second_name_copied(write: Written) -> Fix | None:
    """``self.places = places.clone()``: the one statement that gave a side of a comparison the other one's memory."""
    trace, at = write.story.trace, write.text_at(write.hazard.read)
    call = write.story.calls.get(write.hazard.read_call) if write.hazard.read_call is not None else None
    if call is None or at is None or not at[0].direct:
        return None
    site, listing, node = at
    names = {path_text(operand) for operand in operands(node, method=call.does("method"))[:2]} - {None}
    here = [alias for alias in trace.aliases if (alias.cell, alias.file) == (site.cell, site.file)]
    found = [alias for alias in here if alias.target in names]
    if len(names) != 2 or len(found) != 1 or ("." not in found[0].target and found[0].source not in names):
        return None
    statement = listing.statement_on(found[0].line)
    plain = isinstance(statement, ast.Assign) and [path_text(each) for each in statement.targets] == [found[0].target]
    if not isinstance(statement, ast.Assign) or not plain or path_text(statement.value) != found[0].source:
        return None
    detached = ".detach()" if any(meta.requires_grad for meta in call.inputs[:2]) else ""
    return fix_of(site, listing, [(statement.value, f"{found[0].source}{detached}.clone()")], call.inputs[0].nbytes)


def state_copied_where_taken(write: Written) -> Fix | None:
    """``self.weights = copy.deepcopy(model.state_dict())``: the expression that the finding names as its origin."""
    found = write.text_at(write.hazard.origin)
    if found is None or not found[1].whole or not _is_state_dict(found[2]):
        return None
    _site, listing, node = found
    statement = listing.statement_on(node.lineno)
    return _deep_copy(write, listing, statement, node) if statement is not None else None


def _references(value: ast.expr) -> list[ast.expr]:
    """Return the parts of an expression that give existing tensors; empty where anything else is among them."""
    if _is_state_dict(value):
        return [value]
    if isinstance(value, (ast.Tuple, ast.List)):
        inside = [_references(entry) for entry in value.elts]
        return [node for entry in inside for node in entry] if inside and all(inside) else []
    if isinstance(value, ast.ListComp):
        return _references(value.elt)
    if isinstance(value, ast.DictComp):
        return _references(value.value)
    if isinstance(value, (ast.Attribute, ast.Subscript)) and path_text(value) is not None:
        return [value]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "detach":
        return [value]
    return []


def _is_state_dict(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "state_dict"


def _deep_copy(write: Written, listing: Listing, statement: ast.stmt, taken: ast.expr) -> Fix | None:
    method = taken.func if isinstance(taken, ast.Call) else None
    owner = method.value if isinstance(method, ast.Attribute) else taken
    return deep_copied(write, listing, statement, taken, taken, path_text(owner))


def deep_copied(
    write: Written, listing: Listing, statement: ast.stmt, old: ast.expr, copied: ast.expr, owner: str | None = None
) -> Fix | None:
    """A statement with ``copy.deepcopy(…)`` for one of its expressions, and the import where its text has none.

    Args:
        write: the write of the finding.
        listing: the text that is changed.
        statement: what is changed of it.
        old: the expression in it that is replaced.
        copied: the expression of which a deep copy takes its place.
        owner: the module that is copied, for the price; None: `copied` itself.
    """
    edit = listing.substitute([(old, f"copy.deepcopy({listing.text(copied)})")])
    if edit is None:
        return None
    edits = (edit,) if _imports_copy(listing) else (_import(listing, statement), edit)
    price = _price_of_module(write, owner or path_text(copied))
    site = write.hazard.origin if listing is not write.listing and write.hazard.origin is not None else write.site
    return Fix(site, listing, tuple(e for e in edits if e is not None), price)


def _imports_copy(listing: Listing) -> bool:
    return any(
        isinstance(node, ast.Import) and any(name.name == "copy" and name.asname is None for name in node.names)
        for node in listing.tree.body
    )


def _import(listing: Listing, statement: ast.stmt) -> Edit | None:
    """``import copy`` before the first import of the cell, or before the statement at the top that needs it."""
    top = next((node for node in listing.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))), None)
    first = top or next(node for node in listing.tree.body if node is statement or statement in set(ast.walk(node)))
    return Edit(first.lineno, first.lineno, ("import copy", listing.lines[first.lineno - 1]))


def _price_of_module(write: Written, owner: str | None) -> int | None:
    """Return the bytes of all parameters and buffers that the namespace reaches through a module."""
    tensors = {n.tensor for n in write.story.trace.names if owner and n.name.startswith((f"{owner}.", f"{owner}["))}
    sizes = [write.story.observations[t].nbytes for t in tensors if t in write.story.observations]
    return sum(size or 0 for size in sizes) or None
