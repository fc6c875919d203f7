"""The sentences of an answer about a saved tensor that was overwritten."""

from __future__ import annotations

from inplace_magic.language import _, sentences
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite

_MOST_LINES = 4


def overwritten(answer: Answer) -> str:
    """Say who wrote, who had saved, and the versions; what is unknown is left out or called so."""
    what = f"`{answer.variable}`" if answer.variable is not None else _("a tensor")
    lines = [line_of(each) for each in answer.candidates[:_MOST_LINES]]
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
    return text.format(line=line_of(answer.saved), node=answer.saved_by)


def _versions(answer: Answer) -> str:
    expected, found = answer.expected_version, answer.found_version
    if expected is None or found is None:
        return ""
    return _("It was saved at version {expected} and is at version {found} now.").format(expected=expected, found=found)


def line_of(site: Callsite) -> str:
    """Return a line's code, its place, and the line that called its function."""
    via = site.caller
    if via is not None and via.same_function(site):
        via = None
    return (
        f"`{site.text}` ({site.place})"
        if via is None
        else _("`{text}` ({place}, called from {caller})").format(text=site.text, place=site.place, caller=via.place)
    )
