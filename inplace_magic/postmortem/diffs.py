"""The change of a line that certainly overwrote a saved tensor, as a diff: on paper, not tried.

``y += 1`` becomes ``y = y + 1``, ``y.mul_(2)`` becomes ``y = y.mul(2)``, ``F.relu(y, inplace=True)`` becomes
``y = F.relu(y)``, and before ``y[0] = 1`` stands ``y = y.clone()``. A new tensor under one name is the same program only
where nobody else holds the old one: the text is followed again, and at each of the writes that name must be the only
holder of the memory. All writes since the save are changed, or none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from inplace_magic.postmortem.candidates import Verdict
from inplace_magic.postmortem.failure import Failure
from inplace_magic.postmortem.flow.events import Event
from inplace_magic.postmortem.flow.run import Flow, follow
from inplace_magic.postmortem.flow.vocabulary import KEEP_NOTHING
from inplace_magic.source.expressions import path_text
from inplace_magic.source.hunks import diff
from inplace_magic.source.listing import FUNCTIONS, LOOPS, Edit, Listing

_MOST_STATEMENTS = 8
_SEVERAL_TYPES = re.compile(r"\b(half|bfloat16|float16|float64|double|autocast|complex\w*)\b")
"""Words of a text that may mix types: ``half += single`` stays half, ``half + single`` does not."""
_OTHER_TWINS = frozenset(("bernoulli_", "detach_", "squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_"))
"""Methods that do something else without the underscore, or write nothing."""


@dataclass(frozen=True)
class Change:
    """What a statement becomes."""

    path: str
    """The name or attribute that gets a new tensor."""
    text: str | None
    """The statement that gives one; None: a copy stands before it."""


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
    written = [_statement(listing, write) for write in judged.writes]
    statements = list(dict.fromkeys(each for each in written if each is not None))
    if None in written or len(statements) > _MOST_STATEMENTS:
        return None
    events = {each: [e for e in flow.events if _statement(listing, e) is each] for each in statements}
    writes = {each: [event for event in events[each] if event.writes] for each in statements}
    if not _is_plain(flow, [event for each in writes.values() for event in each]):
        return None
    changes = {each: _change(listing, each, writes[each]) for each in statements}
    asked = frozenset(event.at for each in writes.values() for event in each)
    held = follow(failure, failure.raised, asked).held
    for statement, change in changes.items():
        if change is None or not _is_own(listing, statement, change.path, writes[statement], flow):
            return None
        if any(held.get(event.at) != (change.path,) for event in writes[statement]):
            return None
    edits = _edits(listing, {each: change for each, change in changes.items() if change is not None}, flow, judged)
    if edits is None or not _compiles(listing, edits):
        return None
    first = judged.lines[0]
    return diff(failure.texts.site(first.filename, first.node, first.function, None), listing, edits)


def _statement(listing: Listing, event: Event) -> ast.stmt | None:
    """The statement of an event, where it is one of this text."""
    node: ast.AST | None = event.where.node
    if node not in listing.parents:
        return None
    while node is not None and not isinstance(node, ast.stmt):
        node = listing.parents.get(node)
    return node


def _is_plain(flow: Flow, writes: Sequence[Event]) -> bool:
    """Whether the writes are autograd's to see, each of one tensor that a known operation of the text made and that was
    given to nothing unknown."""
    memories = frozenset().union(*(write.writes for write in writes))
    if any(event.nodes is None and (event.reads | event.makes) & memories for event in flow.events):
        return False
    return all(w.known and w.recorded and len(w.writes) == 1 and _birth(flow, w) is not None for w in writes)


def _birth(flow: Flow, write: Event) -> Event | None:
    """The operation that made what a write wrote; None where it existed before, or comes from somewhere unknown."""
    if any(flow.memory[number] is not None for number in write.writes):
        return None
    return next((event for event in flow.events if event.makes & write.writes and event.at < write.at), None)


def _is_own(listing: Listing, statement: ast.stmt, path: str, writes: Sequence[Event], flow: Flow) -> bool:
    """Whether a name is no parameter that holds what a library called the function with, as it calls hooks: that
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


def _change(listing: Listing, statement: ast.stmt, writes: Sequence[Event]) -> Change | None:
    one_line = statement.lineno == statement.end_lineno
    nodes = {write.where.node for write in writes}
    if not one_line or not listing.alone(statement) or isinstance(listing.scope_of(statement), (ast.Lambda, ast.ClassDef)):
        return None
    return next((found for form in FORMS if (found := form(listing, statement, nodes)) is not None), None)


def _augmented(listing: Listing, statement: ast.stmt, nodes: set[ast.expr | ast.stmt]) -> Change | None:
    """``y += a`` as ``y = y + a``."""
    if not isinstance(statement, ast.AugAssign) or nodes != {statement} or _mixes_types(listing, statement.value):
        return None
    path = _path(statement.target)
    sign = listing.text_between(statement.target, statement).partition("=")[0].strip()
    value = listing.text(statement.value)
    wanted = ast.dump(ast.BinOp(ast.parse(path or "_", mode="eval").body, statement.op, statement.value))
    for right in (value, f"({value})"):
        text = f"{path} {sign} {right}"
        if path is not None and ast.dump(ast.parse(text, mode="eval").body) == wanted:
            return Change(path, f"{path} = {text}")
    return None


def _called(listing: Listing, statement: ast.stmt, nodes: set[ast.expr | ast.stmt]) -> Change | None:
    """``y.mul_(2)`` as ``y = y.mul(2)``, and functions likewise; a chain of methods as a whole."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    call = max(calls, key=lambda node: (node.end_col_offset or 0) - node.col_offset, default=None)
    if call is None or len(calls) != len(nodes) or _mixes_types(listing, *call.args):
        return None
    cuts: list[tuple[int, int]] = []
    links: set[ast.expr | ast.stmt] = set()
    base: ast.expr = call
    while isinstance(base, ast.Call) and (link := _out_of_place(base)) is not None:
        links.add(base)
        cuts.append(link[1])
        base = link[0]
    path = _path(base)
    if path is None or not nodes <= links:
        return None
    named = [node for node in ast.walk(statement) if path_text(node) == path]
    row = listing.lines[statement.lineno - 1].encode()
    for start, end in sorted(cuts, reverse=True):
        row = row[:start] + row[end:]
    shorter = sum(end - start for start, end in cuts)
    text = row[statement.col_offset : (statement.end_col_offset or 0) - shorter].decode()
    if isinstance(statement, ast.Expr) and statement.value is call:
        return Change(path, f"{path} = {text}") if len(links) == 1 or len(named) == 1 else None
    if isinstance(statement, ast.Assign) and statement.value is call and [_path(t) for t in statement.targets] == [path]:
        return Change(path, text) if len(links) == 1 or len(named) == 2 else None
    return Change(path, text) if len(named) == 1 and _is_last_read(listing, statement, path) else None


def _out_of_place(call: ast.Call) -> tuple[ast.expr, tuple[int, int]] | None:
    """What a call in place writes, and the columns that are left out of its twin."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.end_lineno != call.end_lineno:
        return None
    name, end = function.attr, function.end_col_offset or 0
    bare = name.removesuffix("_")
    if any(keyword.arg in (None, "out") for keyword in call.keywords):
        return None
    for before, flag in zip((None, *call.keywords), call.keywords, strict=False):
        if flag.arg == "inplace":
            left = before.value if before is not None else (call.args or [None])[-1]
            is_set = isinstance(flag.value, ast.Constant) and flag.value.value is True and bare == name
            if left is None or not is_set or not hasattr(torch.nn.functional, name):
                return None
            return call.args[0], (left.end_col_offset or 0, flag.value.end_col_offset or 0)
    if bare == name or bare.endswith("_") or name in _OTHER_TWINS:
        return None
    if path_text(function.value) in ("torch", "F", "nn.functional", "torch.nn.functional"):
        home = torch if path_text(function.value) == "torch" else torch.nn.functional
        return (call.args[0], (end - 1, end)) if call.args and hasattr(home, bare) else None
    return (function.value, (end - 1, end)) if callable(getattr(torch.Tensor, bare, None)) else None


def _copied(listing: Listing, statement: ast.stmt, nodes: set[ast.expr | ast.stmt]) -> Change | None:
    """``y = y.clone()`` before ``y[0] = a``, where what is put there does not read ``y`` itself."""
    target: ast.expr | None = None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        keeps = not isinstance(statement.op, (ast.Add, ast.Sub)) and not isinstance(statement.value, ast.Constant)
        target = statement.target if not keeps and not isinstance(statement.op, ast.Pow) else None
    path = _path(target.value) if isinstance(target, ast.Subscript) else None
    assert isinstance(statement, (ast.Assign, ast.AugAssign)) or path is None
    if path is None or nodes != {target} or any(path_text(node) == path for node in ast.walk(statement.value)):
        return None
    return Change(path, None)


FORMS: tuple[Callable[[Listing, ast.stmt, set[ast.expr | ast.stmt]], Change | None], ...] = (
    _augmented,
    _called,
    _copied,
)
"""The first that knows the statement changes it."""


def _path(node: ast.expr) -> str | None:
    """``y`` and ``self.y``; None for anything else."""
    plain = isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
    return path_text(node) if plain else None


def _mixes_types(listing: Listing, *values: ast.expr) -> bool:
    given = [value for value in values if not isinstance(value, ast.Constant)]
    return bool(given) and _SEVERAL_TYPES.search("\n".join(listing.lines)) is not None


def _is_last_read(listing: Listing, statement: ast.stmt, path: str) -> bool:
    """Whether nothing reads a local variable after a statement that leaves it as it was."""
    scope = listing.scope_of(statement)
    if not isinstance(scope, FUNCTIONS) or not path.isidentifier():
        return False
    if isinstance(statement, ast.Return):
        return True
    later = [node for node in listing.inside(scope) if isinstance(node, ast.Name) and node.id == path]
    in_loop = any(isinstance(node, LOOPS) for node in listing.around(statement))
    return not in_loop and all(node.lineno <= statement.lineno for node in later)


def _edits(listing: Listing, changes: dict[ast.stmt, Change], flow: Flow, judged: Verdict) -> list[Edit] | None:
    rows: dict[int, Edit] = {}
    copies: set[tuple[int, str]] = set()
    busy = _keeping_between(listing, changes, flow, judged)
    for statement, change in changes.items():
        if change.text is not None:
            edit = listing.replace(statement, change.text)
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


def _keeping_between(listing: Listing, changes: dict[ast.stmt, Change], flow: Flow, judged: Verdict) -> bool:
    """Whether anything can save the tensor again between the first and the last of the writes."""
    memories = frozenset().union(*(write.writes for write in judged.writes))
    between = (e for e in flow.events if judged.writes[0].at < e.at < judged.writes[-1].at and not e.writes)
    keeping = (e for e in between if (e.reads | e.makes) & memories and not (e.nodes or {""}) <= KEEP_NOTHING)
    return any(_statement(listing, event) not in changes for event in keeping)


def _before_loops(listing: Listing, statement: ast.stmt, path: str, judged: Verdict) -> ast.stmt:
    """The statement before which one copy is enough: the loop around the write that neither saves nor binds."""
    saving = {id(saver.where.node) for saver in judged.savers}
    root = path.partition(".")[0]
    for around in listing.around(statement):
        if not isinstance(around, LOOPS) or any(_rebinds(node, root) or id(node) in saving for node in _of(around)):
            break
        statement = around
    return statement


def _of(loop: ast.AST) -> Iterator[ast.AST]:
    yield from ast.walk(loop)


def _rebinds(node: ast.AST, root: str) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == root


def _compiles(listing: Listing, edits: Sequence[Edit]) -> bool:
    rows = list(listing.lines)
    for edit in sorted(edits, key=lambda edit: -edit.first):
        rows[edit.first - 1 : edit.last] = edit.new
    try:
        ast.parse("\n".join(rows))
    except SyntaxError:
        return False
    return True


__all__ = ["diff_of"]
