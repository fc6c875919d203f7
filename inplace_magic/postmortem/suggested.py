"""What a line that overwrote a saved tensor can become, in one sentence: a suggestion that nobody has tried.

``y += 1`` becomes ``y = y + 1``, and above ``y[0] = 1`` comes ``y = y.clone()``. Either is the same program only if no
other name needs the new values, and the sentence says so. A second run tries changes and shows them as a diff.
"""

from __future__ import annotations

import ast

from inplace_magic.language import _
from inplace_magic.postmortem.candidates import Verdict
from inplace_magic.postmortem.flow.events import Where
from inplace_magic.postmortem.texts import Texts
from inplace_magic.postmortem.words import line_of
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Listing
from inplace_magic.source.out_of_place import out_of_place, target_of


def suggestion(texts: Texts, judged: Verdict, line: Callsite) -> str:
    """Return what to change about the line that certainly wrote.

    Args:
        texts: of the user's code.
        judged: which line that is, and all writes since the save.
        line: its place.
    """
    if judged.steps:
        return _("Compute {loss} again after {line}.").format(loss=_("the loss"), line=line_of(line))
    said = _rewritten(texts, judged.lines[0]) if _is_plain(judged) else ""
    general = _("Let {line} give a new tensor instead of writing into the saved one (clone it first).")
    return said or general.format(line=line_of(line))


def _is_plain(judged: Verdict) -> bool:
    """True if one line alone wrote, by operations that are known and that autograd recorded."""
    lines = {(write.where.filename, write.where.node.lineno) for write in judged.writes}
    return len(lines) == 1 and all(write.known and write.recorded for write in judged.writes)


def _rewritten(texts: Texts, write: Where) -> str:
    """Return the sentence that has the new code; empty where the text has no certain twin."""
    text = texts.text(write.filename)
    if text is None or text.tree is None:
        return ""
    listing = Listing(tuple(text.lines), text.tree, whole=True)
    around = (write.node, *listing.around(write.node))
    statement = next((node for node in around if isinstance(node, ast.stmt)), None)
    if statement is None or statement.lineno != statement.end_lineno:
        return ""
    part = write.node if isinstance(write.node, ast.Subscript) else None
    path = path_text(part.value if part is not None else target_of(statement))
    if path is None or not _gives_the_tensor(listing, statement, path):
        return ""
    if part is not None:
        new = f"{path} = {path}.clone()" if _keeps_no_part(statement, path) else None
        said = _("If no other name needs the new values, write into a copy: put {new} before {old}.")
    else:
        new = out_of_place(listing, statement, path)
        said = _("If no other name needs the new values, make a new tensor: write {new} instead of {old}.")
    return said.format(new=f"`{new}`", old=f"`{listing.text(statement)}`") if new is not None else ""


def _keeps_no_part(statement: ast.stmt, path: str) -> bool:
    """True if autograd cannot save a part of the copy that the statement writes."""
    if isinstance(statement, ast.AugAssign) and not isinstance(statement.op, (ast.Add, ast.Sub)):
        return False
    value = statement.value if isinstance(statement, (ast.Assign, ast.AugAssign)) else statement
    return all(path_text(node) != path for node in ast.walk(value))


def _gives_the_tensor(listing: Listing, statement: ast.stmt, path: str) -> bool:
    """True if the function of a statement itself gives a variable its tensor, or any function an attribute: what a
    caller passes in has another name outside, too."""
    for node in listing.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store) and path_text(node) == path:
            own = not path.isidentifier() or listing.scope_of(node) is listing.scope_of(statement)
            if own and not isinstance(listing.parents[node], ast.AugAssign):
                return True
    return False
