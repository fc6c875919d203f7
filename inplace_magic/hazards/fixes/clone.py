"""Fixes that put ``.clone()`` where a second reference was taken: by the op that saved, a second name, a list, a hook.

A copy at the place of saving leaves every write of the program as it is: backward reads the copy. It is right wherever
the saving line names the saved tensor, or is the expression that gave it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from inplace_magic.hazards.fixes.out_of_place import cloned
from inplace_magic.hazards.fixes.target import Fix, Written, loads_after
from inplace_magic.language import _
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Edit, Listing, listing_of

Change = tuple[ast.expr, str]


def edits_of(listing: Listing, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """The changes, one edit for each line; empty where one of them cannot be made."""
    by_line: dict[int, dict[int, Change]] = {}
    for node, new in changes:
        by_line.setdefault(node.lineno, {})[node.col_offset] = (node, new)
    edits = [listing.substitute(line.values()) for line in by_line.values()]
    return tuple(edit for edit in edits if edit is not None) if all(edits) else ()


def _fix(site: Callsite, listing: Listing, changes: list[Change], price: int | None, sentence: str = "") -> Fix | None:
    edits = edits_of(listing, changes) if changes else ()
    return Fix(site, listing, edits, price, sentence) if edits else None


def where_it_was_saved(write: Written) -> Fix | None:
    """Let every op that saved the written memory save a copy of it."""
    return _copied(write, _stale(write))


def where_it_was_saved_unseen(write: Written) -> Fix | None:
    """The same for a write that moved no version: also what ``x.data = …`` replaced."""
    return _copied(write, _replaced_or_written_unseen(write))


def _copied(write: Written, stale: Iterable[tuple[SavedTensor, CallEvent]]) -> Fix | None:
    changes: list[Change] = []
    price, first = 0, write.hazard.saved
    listing = listing_of(write.story.trace, first)
    if first is None or listing is None:
        return None
    seen: set[Callsite] = set()
    for saved, call in stale:
        site = call.callsite
        if site is None or (site.cell, site.file) != (first.cell, first.file) or not site.direct:
            return None
        price += saved.nbytes or 0
        if site in seen:
            continue
        seen.add(site)
        if not listing.whole and site.line != first.line:
            return None
        node = _saved_expression(listing, site, call, saved)
        if node is None:
            return None
        changes.append(cloned(listing, node))
    sentence = _("Copy it on the line that saves it: the write then leaves alone what backward needs.")
    return _fix(first, listing, changes, price or None, sentence)


def _stale(write: Written) -> list[tuple[SavedTensor, CallEvent]]:
    """What was saved of the memory that the call wrote, is still held, and was written since."""
    story = write.story
    if write.call is None or write.mutation is None or write.mutation.counter is None:
        return []
    counters = {mutation.counter for mutation in write.call.mutations}  # a `_foreach_` call writes several tensors
    found = []
    for saved in story.trace.saved:
        node = story.nodes[saved.node]
        call = story.calls.get(node.call) if node.call is not None else None
        if call is None or saved.counter not in counters or saved.version is None:
            continue
        let_go = node.ended is not None and node.ended <= write.call.index
        if not let_go and story.writes_after(saved, saved.version):
            found.append((saved, call))
    return found


def _replaced_or_written_unseen(write: Written) -> Iterator[tuple[SavedTensor, CallEvent]]:
    """What was saved of the memory that the call wrote or, by ``x.data = …``, replaced; on the line of the finding's
    saver, also what other lines replaced."""
    story, wrote = write.story, write.call
    if wrote is None:
        return
    tensors = {meta.tensor for meta in wrote.inputs[:1]} if wrote.does("takes memory") else set()
    for saved in story.trace.saved:
        made = story.nodes[saved.node].call
        call = story.calls.get(made) if made is not None else None
        if call is None or saved.storage is None:
            continue
        setters = story.data_setters.get(saved.tensor, ()) if saved.tensor is not None else ()
        site = call.callsite
        replaced = any(s.index > call.index and s.inputs[0].storage == saved.storage for s in setters)
        own = saved.tensor in tensors or (site is not None and site.same_line(write.hazard.saved))
        written = write.mutation is not None and saved.storage == write.mutation.storage
        if (replaced and own) or (written and call.index < wrote.index):
            yield saved, call


def _saved_expression(listing: Listing, site: Callsite, call: CallEvent, saved: SavedTensor) -> ast.expr | None:
    """The expression in the saving call that gives what was saved: an operand, or the call itself."""
    node = listing.expression_at(site)
    if node is None:
        return None
    inputs = [meta for meta in call.inputs if meta.storage == saved.storage]
    if not inputs:
        gave = any(meta.storage == saved.storage for meta in call.outputs)
        return node if gave and len(call.outputs) == 1 else None
    operands = _operands(node, method=call.does("method"))
    if len(inputs) != 1 or len(operands) != len(call.inputs):
        return None
    return operands[call.inputs.index(inputs[0])]


def _operands(node: ast.expr, *, method: bool) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        listed = [node.left, node.right]
    elif isinstance(node, ast.Call):
        receiver = [node.func.value] if method and isinstance(node.func, ast.Attribute) else []
        listed = [*receiver, *node.args]
    else:
        return []
    return [operand for operand in listed if not isinstance(operand, ast.Starred) and not _is_number(operand)]


def _is_number(node: ast.expr) -> bool:
    """``2``, ``-1``, ``"mean"``."""
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def in_the_same_statement(write: Written) -> Fix | None:
    """``p[:, 1] = softplus(p[:, 1])``: the right-hand side saves what the left-hand side then writes."""
    statement, path = write.statement, write.path
    if not isinstance(statement, ast.Assign) or path is None or len(statement.targets) != 1:
        return None
    sentence = _(
        "Let the right-hand side read from a copy: that is then what backward keeps, and the write leaves it alone."
    )
    return _reads_cloned(write, statement.value, path, sentence)


def of_what_is_read(write: Written) -> Fix | None:
    """An op that reads elements which it also writes reads a copy."""
    statement, path = write.statement, write.path
    if path is None:
        return None
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        return _reads_cloned(write, statement.value, path)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
        return _reads_cloned(write, call.args[0], path)
    return None


def _reads_cloned(write: Written, value: ast.expr, path: str, sentence: str = "") -> Fix | None:
    listing = write.listing
    changes = [cloned(listing, node) for node in _reads(value, path)]
    return _fix(write.site, listing, changes, None, sentence) if changes else None


def _reads(value: ast.expr, path: str) -> list[ast.expr]:
    """The outermost reads of a variable, or of parts of it, in an expression."""
    if path_text(value) == path or (isinstance(value, ast.Subscript) and path_text(value.value) == path):
        return [value]
    found: list[ast.expr] = []
    for child in ast.iter_child_nodes(value):
        if isinstance(child, ast.expr):
            found += _reads(child, path)
    return found


def where_it_was_made(write: Written) -> Fix | None:
    """``x.expand(3, 4).clone()``: the origin of the written tensor gives memory of its own."""
    origin = write.hazard.origin
    listing = listing_of(write.story.trace, origin)
    node = listing.expression_at(origin) if listing is not None and origin is not None else None
    tensor, call = write.hazard.tensor, write.call
    made = write.story.innermost_new(tensor, call.index) if tensor is not None and call is not None else None
    if origin is None or listing is None or node is None or (made is not None and len(made.outputs) > 1):
        return None  # `torch.meshgrid` gives a tuple, which has no `clone`
    return _fix(origin, listing, [cloned(listing, node)], write.meta.nbytes if write.meta is not None else None)


def at_the_second_name(write: Written) -> Fix | None:
    """``labels = ids.clone()``: the statement that gave the second name makes a copy."""
    site, listing = write.site, write.listing
    if not listing.whole or write.path is None:
        return None
    for alias in write.story.aliases.beside(site):
        if alias.line >= site.line or write.path not in (alias.target, alias.source):
            continue
        statement = listing.statement_on(alias.line)
        other = alias.source if alias.target == write.path else alias.target
        if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
            return _in_two_statements(write, statement)
        named = isinstance(statement, ast.Assign) and path_text(statement.targets[0]) == alias.target
        read = any(True for _ in loads_after(listing, write.statement, other))
        if isinstance(statement, ast.Assign) and named and read:
            return _fix(site, listing, [cloned(listing, statement.value)], _nbytes(write))
    return None


def _in_two_statements(write: Written, statement: ast.Assign) -> Fix | None:
    """``m = torch.zeros(3)`` and ``v = m.clone()`` for ``m = v = torch.zeros(3)``."""
    listing, names = write.listing, [path_text(target) for target in statement.targets]
    lines = [f"{names[0]} = {listing.text(statement.value)}", *(f"{name} = {names[0]}.clone()" for name in names[1:])]
    edit = listing.replace(statement, *lines) if None not in names else None
    return Fix(write.site, listing, (edit,), _nbytes(write)) if edit is not None else None


def where_it_was_kept(write: Written) -> Fix | None:
    """``features.append(x.clone())``, ``kept["pre"] = output.clone()``: what keeps an activation keeps a copy."""
    listing = write.listing
    if not listing.whole:
        return None
    tensor = write.hazard.tensor if write.hazard.tensor is not None else -1
    held = {tensor, *write.story.aliases.detached.get(tensor, ())}
    containers = {entry.name.split("[")[0] for entry in write.story.trace.names if entry.tensor in held}
    changes: list[Change] = []
    for alias in write.story.trace.aliases:
        target, bracket, _ = alias.target.partition("[")
        same = (alias.cell, alias.file) == (write.site.cell, write.site.file)
        source = alias.source == write.path if write.path is not None else target in containers
        kept_here = alias.function == write.site.function and source
        hooked = (
            alias.function != write.site.function and target in containers and bool(write.story.trace.hooked_modules)
        )
        if not same or not bracket or not (kept_here or hooked):
            continue
        statement = listing.statement_on(alias.line)
        for node in _stored(statement, alias.source):
            changes.append(cloned(listing, node))
    return _fix(write.site, listing, changes, _nbytes(write)) if len(changes) == 1 else None


def in_each_slot(write: Written) -> Fix | None:
    """``yield state.clone()``, ``history.append(state.clone())``, ``[torch.zeros(3) for _ in range(2)]``."""
    listing, path = write.listing, write.path
    if not listing.whole or path is None:
        return None
    if "[" in path:
        return _repeated_list(write, path.split("[")[0])
    changes: list[Change] = []
    for node in ast.walk(listing.scope_of(write.statement)):
        if isinstance(node, ast.Return) and _taken_elsewhere(write, path):
            return None
        if isinstance(node, (ast.Yield, ast.Call, ast.Return)):
            changes += [cloned(listing, stored) for stored in _stored(node, path)]
    return _fix(write.site, listing, changes, _nbytes(write)) if len(changes) == 1 else None


def _taken_elsewhere(write: Written, path: str) -> bool:
    """Whether ``self.state`` gets out of its object another way, too: ``state = env.state``."""
    attribute = path.rpartition(".")[2]
    aliases = write.story.trace.aliases
    return "." in path and any(a.source.endswith(f".{attribute}") and a.target != "return" for a in aliases)


def _repeated_list(write: Written, name: str) -> Fix | None:
    for node in ast.walk(write.listing.tree):
        if isinstance(node, ast.Assign) and path_text(node.targets[0]) == name:
            whole = node.value
            if isinstance(whole, ast.Call) and path_text(whole.func) in ("deque", "collections.deque") and whole.args:
                whole = whole.args[0]
            if not isinstance(whole, ast.BinOp) or not isinstance(whole.op, ast.Mult):
                continue
            repeated, times = whole.left, whole.right
            if isinstance(repeated, ast.List) and len(repeated.elts) == 1:
                new = f"[{write.listing.text(repeated.elts[0])} for _ in range({write.listing.text(times)})]"
                made = isinstance(repeated.elts[0], ast.Call)
                return _fix(write.site, write.listing, [(whole, new)], _nbytes(write)) if made else None
    return None


def _stored(node: ast.AST | None, path: str) -> list[ast.expr]:
    """The reads of `path` that a statement stores as they are: the value of an assignment, an argument of ``append``,
    what is yielded; also inside a tuple."""
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
    return [value for value in inside if path in (path_text(value), path_text(_undetached(value)))]


def _undetached(value: ast.expr) -> ast.expr:
    """``x`` of ``x.detach()``."""
    method = value.func if isinstance(value, ast.Call) else None
    return method.value if isinstance(method, ast.Attribute) and method.attr == "detach" else value


def _nbytes(write: Written) -> int | None:
    return write.meta.nbytes if write.meta is not None else None
