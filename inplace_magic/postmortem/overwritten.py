"""A saved tensor that was written before backward used it: the node that refused, and who can have written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.language import _
from inplace_magic.postmortem import words
from inplace_magic.postmortem.candidates import Asked, verdict
from inplace_magic.postmortem.failure import Failure
from inplace_magic.postmortem.flow.events import Where
from inplace_magic.postmortem.flow.run import Flow, follow
from inplace_magic.postmortem.graph import Refused, Saver, keeps_its_graph, refused, roots_of
from inplace_magic.postmortem.memory import Holders, holders_in, last_recorded
from inplace_magic.postmortem.suggested import suggestion
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite

_MOST_SAVERS = 8
CODE = "saved-tensor-overwritten"


def explain_overwritten(failure: Failure) -> Answer:
    """Return the line that wrote, where the facts leave one; else those that can have."""
    found, expected = (None if (text := failure.match[name]) is None else int(text) for name in ("found", "expected"))
    facts = _facts(failure, found)
    saver = facts.savers[0] if facts.savers and facts.is_sure else None
    holders = holders_in(failure.scopes)
    savers = (saver,) if saver is not None else facts.savers[:_MOST_SAVERS]
    flow = follow(failure)
    judged = verdict(flow, Asked(tuple(_written_by(each, holders) for each in savers), expected, found))
    saver = saver or judged.node
    names = [path for path, _ in holders.get(saver.memory, ())] if saver is not None and saver.memory else []
    candidates = tuple(_site(failure, line) for line in judged.lines)
    told = Answer(
        code=CODE,
        message="",
        error=failure.said,
        place=failure.raised.place if failure.raised is not None else failure.place,
        candidates=candidates,
        certain=judged.certain,
        saved=_site(failure, judged.saver) if judged.saver is not None else None,
        saved_by=(saver.name or None) if saver is not None else None,
        expected_version=expected,
        found_version=found,
        variable=names[0] if names else None,
        fix=suggestion(failure.texts, judged, candidates[0]) if judged.certain else None,
        limits=tuple(_limits(facts, flow)),
    )
    return replace(told, message=words.overwritten(told))


def _limits(facts: Refused, flow: Flow) -> Iterator[str]:
    if facts.cut:
        yield _("The graph has more nodes than may be looked at; the one that refused can lie behind them.")
    if facts.packed and not facts.savers:
        yield _("Saved-tensor hooks hide what the nodes of this graph keep.")
    if flow.cut:
        yield _("The program is too long to be followed to its end; later writes are unknown.")


def _written_by(saver: Saver, holders: Holders) -> Saver:
    """Return the saver of its own result, with what the tensors on that memory say of the last write."""
    if saver.written_by is not None or saver.memory is None or not saver.is_output:
        return saver
    return replace(saver, written_by=last_recorded(tensor for _, tensor in holders.get(saver.memory, ())))


def _site(failure: Failure, where: Where) -> Callsite:
    caller = _site(failure, where.caller) if where.caller is not None else None
    return failure.texts.site(where.filename, where.node, where.function, caller)


def _facts(failure: Failure, found: int | None) -> Refused:
    text = failure.match["shape"]
    shape = None if text is None else tuple(int(size) for size in text.split(",") if size.strip())
    return refused(roots_of(failure.stack), found, shape, retained=keeps_its_graph(failure.stack))
