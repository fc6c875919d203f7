"""The change of a line that certainly overwrote a saved tensor, as a diff: on paper, not tried.

``y += 1`` becomes ``y = y + 1``, ``y.mul_(2)`` becomes ``y = y.mul(2)``, ``F.relu(y, inplace=True)`` becomes
``y = F.relu(y)``, and before ``y[0] = 1`` stands ``y = y.clone()``. A new tensor under one name is the same program
only where nobody else holds the old one: the text is followed again, and at each of the writes that name must be the
only holder of the memory. All writes since the save are changed, or none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from inplace_magic.postmortem.candidates import Verdict
from inplace_magic.postmortem.failure import Failure
from inplace_magic.postmortem.flow.events import Event, Where
from inplace_magic.postmortem.flow.run import Flow, follow
from inplace_magic.postmortem.flow.vocabulary import KEEP_NOTHING
from inplace_magic.postmortem.forms import Change, change_of
from inplace_magic.source.expressions import path_text
from inplace_magic.source.hunks import diff
from inplace_magic.source.listing import FUNCTIONS, LOOPS, Edit, Listing
from inplace_magic.source.variables import variables_bound

_MOST_STATEMENTS = 8
_SEVERAL_TYPES = re.compile(r"\b(half|bfloat16|float16|float64|double|autocast|complex\w*)\b")
"""Words of a text that may mix types: ``half += single`` stays half, ``half + single`` does not."""
_UNFOLLOWED = re.compile(
    r"(?<![\w.])(globals|locals|vars|exec|eval)\(|@[\w.]*(cache|cached_property)\b|_hook\b|weakref"
)
"""Words of a text that can hand a tensor on unseen."""
_KEPT = frozenset(("numpy", "retain_grad", "data_ptr", "storage", "untyped_storage", "__array__", "__dict__"))
"""Methods of a tensor that give its memory away, or mark the tensor itself."""


def diff_of(failure: Failure, flow: Flow, judged: Verdict) -> str | None:
    """Return a diff that changes every write since the save; None where it is not sure to leave the same program.

    Args:
        failure: what is left of the program.
        flow: what its text did.
        judged: which of that saved and wrote the tensor, which is certain.
    """
    names = {write.where.filename for write in judged.writes}
    text = failure.texts.text(next(iter(names))) if len(names) == 1 else None
    if text is None or text.tree is None or judged.steps or not judged.lines:
        return None
    listing = Listing(tuple(text.lines), text.tree, whole=True)
    written = [_statement(listing, write.where) for write in judged.writes]
    statements = list(dict.fromkeys(each for each in written if each is not None))
    if None in written or len(statements) > _MOST_STATEMENTS:
        return None
    events = {each: [e for e in flow.events if _statement(listing, e.where) is each] for each in statements}
    writes = {each: [event for event in events[each] if event.writes] for each in statements}
    if not _is_plain(flow, [event for each in writes.values() for event in each]):
        return None
    changes = {each: change_of(listing, each, {write.where.node for write in writes[each]}) for each in statements}
    read = ("\n".join(text.lines), *(cell.text for cell in failure.texts.cells.ran))
    if any(map(_UNFOLLOWED.search, read)) or any(
        each is None or _is_marked(listing, each.path) for each in changes.values()
    ):
        return None
    if any(map(_SEVERAL_TYPES.search, read)) and any(each is None or each.has_operands for each in changes.values()):
        return None
    asked = frozenset(event.at for each in writes.values() for event in each)
    held = follow(failure, failure.raised, asked).held
    for statement, change in changes.items():
        if change is None or not _is_own(listing, statement, change.path, writes[statement], flow):
            return None
        if any(held.get(event.at) != (change.path,) for event in writes[statement]):
            return None
    made = {each: change for each, change in changes.items() if change is not None}
    edits = _edits(listing, made, flow, judged, sorted(asked))
    if edits is None or not _compiles(listing, edits):
        return None
    first = judged.lines[0]
    return diff(failure.texts.site(first.filename, first.node, first.function, None), listing, edits)


def _statement(listing: Listing, where: Where) -> ast.stmt | None:
    """Return the statement of a place, where it is one of this text."""
    node: ast.AST | None = where.node
    if node not in listing.parents:
        return None
    while node is not None and not isinstance(node, ast.stmt):
        node = listing.parents.get(node)
    return node


def _is_plain(flow: Flow, writes: Sequence[Event]) -> bool:
    """True if the writes are autograd's to see, each of one tensor that a known operation of the text made and that was
    given to nothing unknown."""
    memories = frozenset().union(*(write.writes for write in writes))
    for event in flow.events:
        unsure = event.nodes is None or "NativeDropout" in event.nodes  # which gives its argument back in evaluation
        if unsure and (event.reads | event.makes) & memories:
            return False
    return all(w.known and w.recorded and len(w.writes) == 1 and _birth(flow, w) is not None for w in writes)


def _birth(flow: Flow, write: Event) -> Event | None:
    """Return the operation that made what a write wrote; None where it existed before, or comes from somewhere
    unknown."""
    if any(flow.memory[number] is not None for number in write.writes):
        return None
    return next((event for event in flow.events if event.makes & write.writes and event.at < write.at), None)


def _is_marked(listing: Listing, path: str) -> bool:
    """True if a tensor's memory is given away by a method, or something is set on it, that a new one has not; or an
    attribute is nowhere assigned, so that its object can refuse that."""
    parameters = {node.arg for node in listing.nodes if isinstance(node, ast.arg)} - {"self"}
    for node in listing.nodes:
        if isinstance(node, ast.Attribute) and (node.attr in _KEPT or isinstance(node.ctx, ast.Store)):
            base: ast.expr = node.value
            while isinstance(base, ast.Call) and isinstance(base.func, ast.Attribute) and node.attr in _KEPT:
                base = base.func.value
            if path_text(base) == path or (node.attr in _KEPT and path_text(base) in parameters):
                return True
    stored = (n for n in listing.nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return not path.isidentifier() and all(path_text(node) != path for node in stored)


def _is_own(listing: Listing, statement: ast.stmt, path: str, writes: Sequence[Event], flow: Flow) -> bool:
    """True if a name is no parameter that holds what a library called the function with, as it calls hooks: that
    library can read it afterwards."""
    scope = listing.scope_of(statement)
    given = ast.walk(scope.args) if isinstance(scope, FUNCTIONS) else ()
    if all(not isinstance(node, ast.arg) or node.arg != path for node in given):
        return True
    for write in writes:
        birth, caller = _birth(flow, write), write.where.caller
        if birth is not None and birth.where.function == write.where.function:
            continue
        name = write.where.function.rpartition(".")[2]
        called = caller.node.func if caller is not None and isinstance(caller.node, ast.Call) else None
        if name != "forward" and (path_text(called) or "").rpartition(".")[2] != name:
            return False
    return True


def _edits(
    listing: Listing, changes: dict[ast.stmt, Change], flow: Flow, judged: Verdict, written_at: Sequence[int]
) -> list[Edit] | None:
    rows: dict[int, Edit] = {}
    copies: set[tuple[int, str]] = set()
    keeping = _keeping(flow, judged)
    between = [event for event in keeping if written_at[0] < event.at < written_at[-1]]
    busy = any(_statement(listing, event.where) not in changes for event in between)
    for statement, change in changes.items():
        if change.text is not None:
            edit = listing.replace(statement, change.text)
        elif any(_is_called_by(listing, event, statement) for event in keeping):
            return None  # what is put there saves the copy again
        else:
            at = statement if busy else _before_loops(listing, statement, change.path, judged)
            block = (id(listing.block_of(at)), change.path)
            if not busy and block in copies:
                continue
            copies.add(block)
            line = listing.lines[at.lineno - 1]
            edit = Edit(at.lineno, at.lineno, (f"{listing.indent(at)}{change.path} = {change.path}.clone()", line))
        if edit is None or edit.first in rows:
            return None
        rows[edit.first] = edit
    return list(rows.values())


def _keeping(flow: Flow, judged: Verdict) -> list[Event]:
    """Return the operations that can save the tensor."""
    memories = frozenset().union(*(write.writes for write in judged.writes))
    reading = (e for e in flow.events if not e.writes and (e.reads | e.makes) & memories)
    return [event for event in reading if not (event.nodes or {""}) <= KEEP_NOTHING]


def _is_called_by(listing: Listing, event: Event, statement: ast.stmt) -> bool:
    where = event.where.caller
    while where is not None:
        if _statement(listing, where) is statement:
            return True
        where = where.caller
    return False


def _before_loops(listing: Listing, statement: ast.stmt, path: str, judged: Verdict) -> ast.stmt:
    """Return the statement before which one copy is enough: the loop around the write that neither saves nor binds."""
    saving = {id(saver.where.node) for saver in judged.savers}
    root = path.partition(".")[0]
    for around in listing.around(statement):
        if (
            not isinstance(around, LOOPS)
            or root in variables_bound(around)
            or any(id(node) in saving for node in ast.walk(around))
        ):
            break
        statement = around
    return statement


def _compiles(listing: Listing, edits: Sequence[Edit]) -> bool:
    rows = list(listing.lines)
    for edit in sorted(edits, key=lambda edit: -edit.first):
        rows[edit.first - 1 : edit.last] = edit.new
    try:
        ast.parse("\n".join(rows))
    except SyntaxError:
        return False
    return True
