"""The sentences of an answer about a saved tensor that was overwritten."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_magic.language import _, sentences
from inplace_magic.record.places import Callsite


def overwritten(
    candidates: Sequence[Callsite],
    saved: Callsite | None,
    *,
    certain: bool,
    saved_by: str | None,
    variable: str | None,
    expected: int | None,
    found: int | None,
) -> str:
    """Say who wrote, who had saved, and the versions; what is unknown is left out or called so."""
    what = f"`{variable}`" if variable is not None else _("a tensor")
    if certain:
        first = _("{line} overwrote {what}, which backward still needs.").format(line=_line(candidates[0]), what=what)
    elif len(candidates) > 1:
        first = _("Backward still needs {what}, which was overwritten by one of {count} lines: {lines}.").format(
            what=what, count=len(candidates), lines="; ".join(map(_line, candidates[:_MOST_LINES]))
        )
    elif candidates:
        first = _("Backward still needs {what}, which was overwritten: likely by {line}.").format(
            what=what, line=_line(candidates[0])
        )
    else:
        first = _("Backward still needs {what}, which was overwritten; no line that did so was found.").format(
            what=what
        )
    return sentences(first, _saver(saved, saved_by), _versions(expected, found))


_MOST_LINES = 4


def change(line: Callsite, *, steps: bool) -> str:
    """Say what to change about the line that wrote; nobody has tried it."""
    if steps:
        return _("Compute {loss} again after {line}.").format(loss=_("the loss"), line=_line(line))
    text = _("Let {line} give a new tensor instead of writing into the saved one (clone it first).")
    return text.format(line=_line(line))


def _saver(saved: Callsite | None, node: str | None) -> str:
    if saved is not None and node is not None:
        return _("{line} had saved it for its gradient (`{node}`).").format(line=_line(saved), node=node)
    return "" if node is None else _("`{node}` had saved it for its gradient.").format(node=node)


def _versions(expected: int | None, found: int | None) -> str:
    if expected is None or found is None:
        return ""
    return _("It was saved at version {expected} and is at version {found} now.").format(expected=expected, found=found)


def _line(site: Callsite) -> str:
    via = site.caller
    if via is not None and via.same_function(site):
        via = None
    return (
        f"`{site.text}` ({site.place})"
        if via is None
        else _("`{text}` ({place}, called from {caller})").format(text=site.text, place=site.place, caller=via.place)
    )
