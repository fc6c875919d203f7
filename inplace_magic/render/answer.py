"""The answer to an unwatched failure: a few lines of text, and a small card.

::

    inplace_magic: `h.add_(1)` overwrote `h`, which `torch.sigmoid(x)` had saved for backward.

        4 | h = torch.sigmoid(x)  <- saved here (by SigmoidBackward0)
      > 5 | h.add_(1)             <- overwritten here (version 0 → 1)

      Fix: If no other name needs the new values, make a new tensor: write `h = h + 1` instead of `h.add_(1)`.
      – Not tried. `%inplace_why 3` runs the cell again on copies, watched, and proves a fix.
"""

from __future__ import annotations

from dataclasses import replace

from inplace_magic.language import _, ngettext
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.render import lettering, style, words
from inplace_magic.render.deliver import MARK
from inplace_magic.render.excerpt import Excerpt, Mark, listing, listings_of, mark_of, to_lines
from inplace_magic.render.markup import card, esc, fix_bar, prose, tag

MOST_CANDIDATES = 6
"""Lines that are shown where it is not certain which did it."""


def text_of(answer: Answer, *, below: bool = False) -> str:
    """Return the answer as text, in the language of now.

    Args:
        below: it stands right below the cell that failed, whose lines need no cell's number then.
    """
    answer = _as_below(answer) if below else answer
    lines = [MARK + answer.message]
    excerpts = _excerpts(answer)
    for excerpt in excerpts:
        shown = to_lines(excerpt)[1 if _is_own(excerpts, answer, below=below) else 0 :]
        lines += ["", *(f"  {line}".rstrip() for line in shown)]
    lines.append("")
    if answer.fix:
        lines.append("  " + _("Fix: {fix}").format(fix=answer.fix))
    lines += [f"  {sentence}" for sentence in _remarks(answer)]
    return lettering.joined(lines).rstrip()


def html_of(answer: Answer, *, below: bool = False) -> str:
    """Return the answer as a card that an untrusted notebook keeps; the arguments are those of :func:`text_of`."""
    answer = _as_below(answer) if below else answer
    accent, ink, _tint = style.SEVERITY_COLOURS["error"]
    sign = tag("b", f"color:{ink}", esc(f"{style.SEVERITY_SYMBOL['error']} "))
    head = tag("div", "margin:0 0 4px", sign, prose(answer.message))
    excerpts = _excerpts(answer)
    shown = "".join(listing(excerpt, named=not _is_own(excerpts, answer, below=below)) for excerpt in excerpts)
    fix = fix_bar(answer.fix) if answer.fix else ""
    last = "<br>".join(map(prose, _remarks(answer)))
    foot = tag("div", f"color:{style.MUTED_INK};margin:4px 0 0", last) if last else ""
    return card(tag("div", f"border-left:4px solid {accent};padding:0 0 0 10px", head, shown, fix, foot))


def to_mimebundle(answer: Answer, *, below: bool = False) -> dict[str, str]:
    """Return what a notebook stores and shows for the answer; the arguments are those of :func:`text_of`."""
    return {"text/html": html_of(answer, below=below), "text/plain": text_of(answer, below=below)}


def closing(answer: Answer) -> str:
    """Return the sentence on how to have the answer proved; for a cell, with its number."""
    cell = failing_cell(answer)
    if cell is not None and answer.framework == "paddle":  # whose cells are not run again
        return _("Put `%%inplace_watch` on top of the cell and run it again to see what each line did.")
    if cell is None:
        return _("– Not tried.") if answer.fix else ""
    text = _("`%inplace_why {number}` runs the cell again on copies, watched, and proves a fix.")
    if answer.fix:
        text = _("– Not tried: `%inplace_why {number}` runs the cell again on copies, watched, and proves a fix.")
    return text.format(number=cell)


def failing_cell(answer: Answer) -> int | None:
    """Return the execution count of the cell that failed; None outside a notebook."""
    return answer.place.outermost.cell if answer.place is not None else None


def _as_below(answer: Answer) -> Answer:
    """Return the answer with ``line 5`` in its sentences for lines of the cell that failed."""
    message, fix, *limits = (
        words.near(text, failing_cell(answer)) for text in (answer.message, answer.fix or "", *answer.limits)
    )
    return replace(answer, message=message, fix=fix, limits=tuple(limits))


def _remarks(answer: Answer) -> list[str]:
    more = len(answer.candidates) - MOST_CANDIDATES
    left = ngettext("{count} more line can have done it.", "{count} more lines can have done it.", more)
    return list(filter(None, (left.format(count=more) if more > 0 else "", *answer.limits, closing(answer))))


def _excerpts(answer: Answer) -> tuple[Excerpt, ...]:
    return listings_of(_marks(answer), Trace(cell=failing_cell(answer)))


def _is_own(excerpts: tuple[Excerpt, ...], answer: Answer, *, below: bool) -> bool:
    """True if all lines are those of the cell right above."""
    return below and [excerpt.source for excerpt in excerpts] == [f"Cell In[{failing_cell(answer)}]"]


def _marks(answer: Answer) -> list[Mark]:
    """Return the saver and the lines that can have written; the line that raised stands in the traceback above."""
    cell = failing_cell(answer)
    marks: list[Mark] = []
    if answer.saved is not None:
        by = _("by {node}").format(node=answer.saved_by) if answer.saved_by else _("for backward")
        marks.append(mark_of("saved", _("saved here"), answer.saved, cell, by))
    for site in answer.candidates[: 1 if answer.certain else MOST_CANDIDATES]:
        text, detail = _label(answer, site)
        marks.append(mark_of("overwritten", text, site, cell, detail))
    return marks


def _label(answer: Answer, site: Callsite) -> tuple[str, str]:
    """What stands beside a line that caused it, or can have, and a detail."""
    before, after = answer.expected_version, answer.found_version
    if not answer.certain and len(answer.candidates) > 1:
        return _("one of these lines"), _("the likeliest") if site == answer.candidates[0] else ""
    if not answer.certain:
        return _("possibly here"), ""
    if before is None or after is None:
        return _("here"), ""
    alone = after == before + 1  # else the versions are of several writes
    return _("overwritten here"), _("version {before} → {after}").format(before=before, after=after) if alone else ""
