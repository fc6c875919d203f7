"""A saved tensor that was written before backward used it: the node that refused, who can have written, and what to
change.

The change is a suggestion that nobody has tried: ``y += 1`` becomes ``y = y + 1``, and above ``y[0] = 1`` comes
``y = y.clone()``. Either is the same program only if no other name needs the new values, and the sentence says so. A
second run tries changes and shows them as a diff.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.language import _, sentences
from inplace_magic.postmortem import graph
from inplace_magic.postmortem.candidates import Verdict, verdict
from inplace_magic.postmortem.failure import Failure, Texts
from inplace_magic.postmortem.flow.run import Flow, follow
from inplace_magic.postmortem.flow.values import Where
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite
from inplace_magic.record.refusal import Refusal
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Listing
from inplace_magic.source.out_of_place import out_of_place, target_of

_MOST_SAVERS = 8
_MOST_LINES = 4


def explain_overwritten(failure: Failure) -> Answer:
    """Return the line that wrote, where the facts leave one; else those that can have."""
    said = refusal_of(failure.text) or Refusal("saved tensor changed")
    retained = graph.keeps_its_graph(failure.stack)
    facts = graph.refused(graph.roots_of(failure.stack), said.found, said.shape, retained=retained)
    saver = facts.savers[0] if facts.savers and facts.is_sure else None
    holders = graph.holders_in(failure.scopes)
    savers = (saver,) if saver is not None else facts.savers[:_MOST_SAVERS]
    flow = follow(failure)
    judged = verdict(flow, tuple(_written_by(each, holders) for each in savers), said)
    saver = saver or judged.node
    names = [path for path, _ in holders.get(saver.memory, ())] if saver is not None and saver.memory else []
    candidates = tuple(_site(failure, line) for line in judged.lines)
    told = Answer(
        code=failure.kind.code,
        message="",
        error=failure.said,
        place=failure.raised.place if failure.raised is not None else failure.place,
        candidates=candidates,
        certain=judged.certain,
        saved=_site(failure, judged.saver) if judged.saver is not None else None,
        saved_by=(saver.name or None) if saver is not None else None,
        expected_version=said.expected,
        found_version=said.found,
        variable=names[0] if names else None,
        fix=_suggestion(failure.texts, judged, candidates[0]) if judged.certain else None,
        limits=tuple(_limits(facts, flow)),
    )
    return replace(told, message=_message(told))


def _limits(facts: graph.Refused, flow: Flow) -> Iterator[str]:
    if facts.cut:
        yield _("The graph has more nodes than may be looked at; the one that refused can lie behind them.")
    if facts.packed and not facts.savers:
        yield _("Saved-tensor hooks hide what the nodes of this graph keep.")
    if flow.cut:
        yield _("The program is too long to be followed to its end; later writes are unknown.")


def _written_by(saver: graph.Saver, holders: graph.Holders) -> graph.Saver:
    """Return the saver of its own result, with what the tensors on that memory say of the last write."""
    if saver.written_by is not None or saver.memory is None or not saver.is_output:
        return saver
    return replace(saver, written_by=graph.last_recorded(tensor for _, tensor in holders.get(saver.memory, ())))


def _site(failure: Failure, where: Where) -> Callsite:
    caller = _site(failure, where.caller) if where.caller is not None else None
    return failure.texts.site(where.filename, where.node, where.function, caller)


def _message(answer: Answer) -> str:
    """Say who wrote, who had saved, and the versions; what is unknown is left out or called so."""
    what = f"`{answer.variable}`" if answer.variable is not None else _("a tensor")
    lines = [_line_of(each) for each in answer.candidates[:_MOST_LINES]]
    if answer.certain:
        first = _("{line} overwrote {what}, which backward still needs.")
    elif len(lines) > 1:
        first = _("Backward still needs {what}, which was overwritten by one of {count} lines: {lines}.")
    elif lines:
        first = _("Backward still needs {what}, which was overwritten: likely by {line}.")
    else:
        first = _("Backward still needs {what}, which was overwritten; no line that did so was found.")
    told = first.format(what=what, line=lines[0] if lines else "", lines="; ".join(lines), count=len(answer.candidates))
    return sentences(told, _saver(answer), _versions(answer))


def _saver(answer: Answer) -> str:
    if answer.saved_by is None:
        return ""
    if answer.saved is None:
        return _("`{node}` had saved it for its gradient.").format(node=answer.saved_by)
    text = _("{line} had saved it for its gradient (`{node}`).")
    return text.format(line=_line_of(answer.saved), node=answer.saved_by)


def _versions(answer: Answer) -> str:
    expected, found = answer.expected_version, answer.found_version
    if expected is None or found is None:
        return ""
    return _("It was saved at version {expected} and is at version {found} now.").format(expected=expected, found=found)


def _line_of(site: Callsite) -> str:
    """Return a line's code, its place, and the line that called its function."""
    via = site.caller
    if via is None or via.same_function(site):
        return f"`{site.text}` ({site.place})"
    return _("`{text}` ({place}, called from {caller})").format(text=site.text, place=site.place, caller=via.place)


def _suggestion(texts: Texts, judged: Verdict, line: Callsite) -> str:
    """Return what to change about the line that certainly wrote.

    Args:
        texts: of the user's code.
        judged: which line that is, and all writes since the save.
        line: its place.
    """
    if judged.steps:
        return _("Compute {loss} again after {line}.").format(loss=_("the loss"), line=_line_of(line))
    lines = {(write.where.filename, write.where.node.lineno) for write in judged.writes}
    known = all(write.known and write.recorded for write in judged.writes)
    said = _rewritten(texts, judged.lines[0]) if len(lines) == 1 and known else ""
    general = _("Let {line} give a new tensor instead of writing into the saved one (clone it first).")
    return said or general.format(line=_line_of(line))


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
