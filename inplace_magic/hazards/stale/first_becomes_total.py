"""A sum began as its first summand itself, the others were added to it in place, and the first is read as it was.

``total[name] = share`` makes no copy. As long as one share comes there is nothing to see; with the second one the first
is the sum of both, wherever else it is kept.

Bad::

    for holding in holdings:
        if holding.name in total:
            total[holding.name] += holding.values
        else:
            total[holding.name] = holding.values
    worth = sum(holding.values for holding in holdings)     # counts the second one twice

Good::

    for holding in holdings:
        if holding.name in total:
            total[holding.name] += holding.values
        else:
            total[holding.name] = holding.values.clone()
    worth = sum(holding.values for holding in holdings)

Told from the record, and from the text of one function: a statement gives a result the very thing that the writing line
adds elsewhere (the same expression; the first entry of the list that a loop goes through; the first argument of
``functools.reduce`` without a value to begin with), and after the last write one expression got the first entry as it
got another one, which was added and nobody has written since: in a list that is stacked, or as the same operand; or
where the entries are rows of one tensor, one call held all of them against the result, or against what was computed of
it alone: ``rows / total``. And where a line added the parameters of several networks, and nothing else, to an alias of
the first one's (``total = nets[0].state_dict()``), and one expression ran the first as it ran another. Silent where
each entry is used for the sum alone, where the others are overwritten afterwards, as replicas are, and where what is
added was computed on the line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.begun import copied
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.first_entries import FirstEntryWritten, beginnings, first_entries_written
from inplace_magic.hazards.references.first_network import first_networks_summed
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.source.listing import whole_listing

CODE = "first-becomes-total"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that adds."""
    for found in chain(first_entries_written(story), first_networks_summed(story)):
        yield _hazard(story, found)


def _hazard(story: Story, found: FirstEntryWritten) -> Hazard:
    copied = ast.unparse(found.entry) if found.entry is not None else ""
    return finding(
        CODE,
        "warning",
        message=(
            _(
                "{line} adds to the first entry itself: {begun} made no copy of it, and {read} reads it like the "
                "entries that were added. PyTorch gives no error."
            )
            if not found.of_all
            else _(
                "{line} writes the first entry itself: {begun} made no copy of it, and {read} holds all entries "
                "against the result, which is one of them. PyTorch gives no error."
            )
        ).format(
            line=wording.spot(found.call.callsite),
            begun=wording.code(found.begun),
            read=wording.spot(found.read.callsite),
        ),
        fix=_("Begin with a copy: {code}.").format(code=wording.code(f"{copied}.clone()"))
        if copied
        else _("Begin with a tensor of its own: `torch.zeros_like(first)`, or the first entry's `.clone()`."),
        variable=story.bindings.written_name(found.call, found.tensor) or found.result,
        tensor=found.tensor,
        write=found.call,
        read=found.read,
    )


def begun_with_a_copy(write: Written) -> Fix | None:
    """``total[name] = share.clone()``, ``best = scores[0].clone()``."""
    listing = whole_listing(write.story.trace, write.site)
    if write.call is None or listing is None:
        return None
    found = [entry for *_rest, entry in beginnings(write.story, write.call, write.site)]
    if len(found) != 1 or found[0] is None:
        return None
    return copied(write, listing, found[0])


RULE = Rule(check, {CODE: Cures((begun_with_a_copy,))})
