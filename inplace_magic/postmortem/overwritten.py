"""A saved tensor that was written before backward used it: the node that refused, and who can have written."""

from __future__ import annotations

from inplace_magic.language import _
from inplace_magic.postmortem.failure import Failure
from inplace_magic.postmortem.graph import Refused, refused, roots_of
from inplace_magic.postmortem.memory import names_of
from inplace_magic.record.answer import Answer

CODE = "saved-tensor-overwritten"


def explain_overwritten(failure: Failure) -> Answer:
    """Return the line that wrote, where the facts leave one; else those that can have."""
    found, expected = _number(failure, "found"), _number(failure, "expected")
    facts = _facts(failure, found)
    saver = facts.savers[0] if facts.savers and facts.is_sure else None
    names = names_of(saver.memory, failure.scopes) if saver is not None else []
    return Answer(
        code=CODE,
        message=_("A tensor that autograd saved for backward was overwritten before backward used it."),
        error=failure.said,
        place=failure.place,
        saved_by=saver.name if saver is not None else None,
        expected_version=expected,
        found_version=found,
        variable=names[0] if names else None,
    )


def _number(failure: Failure, group: str) -> int | None:
    text = failure.match[group]
    return int(text) if text is not None else None


def _facts(failure: Failure, found: int | None) -> Refused:
    text = failure.match["shape"]
    shape = None if text is None else tuple(int(size) for size in text.split(",") if size.strip())
    return refused(roots_of(failure.stack), found, shape)
