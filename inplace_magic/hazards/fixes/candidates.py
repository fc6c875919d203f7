"""Changes that no fact makes certain, and that are worth a try: what a run on copies refutes is never shown.

The ways of the rules ask first whether the written name may be bound anew, whether somebody is to see the write, and so
on, and give none where that is not certain. Here the same changes are made without asking, cheapest first, together
with a few that fit one idiom each, such as copies of the parts that ``split`` gives.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes import clone, history, new_tensor, of_origin, reorder
from inplace_magic.hazards.fixes.inplace_false import flag_set_above, flag_turned_off
from inplace_magic.hazards.fixes.target import Fix, Written, fix_of, text_at, written
from inplace_magic.hazards.late_backward import Twice
from inplace_magic.language import _
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import listing_of
from inplace_magic.source.out_of_place import cloned, new_value, out_of_place

MOST = 8
"""Candidates of one finding."""


def candidates(story: Story, hazard: Hazard) -> Iterator[Hazard]:
    """Yield the finding with each change that could cure it, in the order in which they are worth a try."""
    if hazard.freed is not None and hazard.read_call in story.backwards:
        yield from history.kept(Twice(story, story.calls[hazard.read_call]), hazard)
    write = written(story, hazard)
    seen = {hazard.diff}
    for fix in (_made(way, write) for way in WAYS) if write is not None else iter(()):
        if fix is None or fix.diff in seen:
            continue
        seen.add(fix.diff)
        said = _("Change the lines as below: of the changes that could be tried, this is the first that works.")
        yield fix.offered(hazard, said)
        if len(seen) > MOST:
            return


def _made(way: Callable[[Written], Fix | None], write: Written) -> Fix | None:
    try:
        return way(write)
    except (ValueError, IndexError, AttributeError):  # a way that was not made for such a line
        return None


def _both_names(write: Written) -> Fix | None:
    """``x = out = out + 1`` below ``out = x``: both names go on to mean what the line gives."""
    path = write.path
    text = out_of_place(write.listing, write.statement, path) if path is not None and path.isidentifier() else None
    for alias in write.story.aliases.beside(write.site) if text is not None else ():
        other = alias.source if alias.target == path else alias.target
        if path in (alias.source, alias.target) and other.isidentifier() and alias.line < write.site.line:
            sentence = _("Give both names the new tensor, since `{other}` is read below as well.").format(other=other)
            return write.rewritten(f"{other} = {text}", write.nbytes, sentence)
    return None


def _value_given(write: Written) -> Fix | None:
    """The writing expression gives a new tensor, wherever it stands."""
    text = text_at(write.story, write.site)
    return text.replaced(new_value(text.listing, text.node)) if text is not None else None


def _parts_copied(write: Written) -> Fix | None:
    """``[part.clone() for part in x.split(2)]`` where several views of one tensor were made."""
    text = text_at(write.story, write.hazard.origin)
    sentence = _("Copy the parts where they are made: each is then a tensor of its own, which may be written.")
    if text is None:
        return None
    return text.replaced(f"[part.clone() for part in {text.listing.text(text.node)}]", None, sentence)


def _saved_copied(write: Written) -> Fix | None:
    """The saving line reads a copy of the variable that is written later."""
    saved, path = write.hazard.saved, write.hazard.variable
    listing = listing_of(write.story.trace, saved)
    statement = listing.statement_at(saved) if listing is not None and saved is not None else None
    value = statement.value if isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) else None
    if saved is None or listing is None or path is None or value is None:
        return None
    reads = [node for node in ast.walk(value) if isinstance(node, ast.expr) and path_text(node) == path]
    return fix_of(saved, listing, [cloned(listing, node) for node in reads], None, _(clone.WHERE_SAVED))


def _result_copied(write: Written) -> Fix | None:
    """What the saving line gave is copied before it gets its name: the name is then written, and not what was saved."""
    text = text_at(write.story, write.hazard.saved)
    return text.copied(None, _("Copy what the saving line gives: the write then goes into the copy.")) if text else None


WAYS: tuple[Callable[[Written], Fix | None], ...] = (
    flag_turned_off,
    flag_set_above,
    new_tensor.made_out_of_place,
    _both_names,
    _value_given,
    new_tensor.cloned_first,
    clone.in_the_same_statement,
    clone.where_it_was_saved,
    clone.where_it_was_saved_unseen,
    _saved_copied,
    _result_copied,
    _parts_copied,
    clone.where_it_was_made,
    clone.at_the_second_name,
    of_origin.where_it_was_kept,
    reorder.reordered,
    new_tensor.from_the_hook,
)
"""In the order in which they are tried: no copy at all, then the smaller ones."""
