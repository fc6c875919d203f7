"""Rows of one tensor were copied onto each other, and a row was copied on after another one had replaced it.

A loop that takes rows from the tensor that it fills reads what earlier passes have put there.

Bad::

    for i, j in enumerate(order):
        x[i] = x[j]                 # j < i: no longer the row it was

Good::

    x = x[order]

Told from the record alone, but for lines of one loop, which their text tells: in one go of a line, an item of a tensor
was assigned a plain item of the same tensor, which an earlier pass had replaced by yet another one. Lines of one loop
count as one where each moves rows of a tensor of its own, and nothing comes in between. Silent where something is
computed from what is read, as in a recurrence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial

from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Region
from inplace_magic.record.places import Callsite
from inplace_magic.source.listing import LOOPS, whole_listing

CODE = "row-overwritten-first"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each such line."""
    if not story.doing("sets item"):
        return
    go = _Go()
    same_loop = cache(partial(_same_loop, story))
    seen = set()
    for call in story.trace.calls:
        if call.kind == "query":
            continue
        site = call.callsite
        if site is None or go.site is None or not go.site.same_statement(site):
            is_beside = site is not None and go.site is not None and go.copied and site.same_run(go.site)
            go = replace(go, site=site, copied=False) if is_beside and same_loop(site, go.site) else _Go(site)
        copied = _copied(call)
        if copied is None or site is None or site in seen:
            continue
        storage, written, read = copied
        if not go.lines.setdefault(storage, site).same_statement(site):
            go = _Go(site, lines={storage: site})  # two lines that move rows of one tensor
        go.copied = True
        if go.replaced.get((storage, read), read) != read:
            seen.add(site)
            yield _hazard(story, call)
        go.replaced[storage, written] = read


@dataclass
class _Go:
    """Passes of one line, or of lines of one loop that each move the rows of a tensor of its own and nothing else."""

    site: Callsite | None = None
    copied: bool = False
    """Whether the line has moved a row in this pass."""
    replaced: dict[tuple[int | None, Region], Region] = field(default_factory=dict)
    lines: dict[int | None, Callsite] = field(default_factory=dict)
    """By memory: the line that moves its rows."""


def _same_loop(story: Story, one: Callsite, other: Callsite) -> bool:
    """Whether the innermost loops around two places are one."""
    inner = []
    for site in (one, other):
        listing = whole_listing(story.trace, site)
        statement = listing.statement_at(site) if listing is not None else None
        around = listing.around(statement) if listing is not None and statement is not None else ()
        inner.append(next((node for node in around if isinstance(node, LOOPS)), None))
    return inner[0] is not None and inner[0] is inner[1]


def _copied(call: CallEvent) -> tuple[int | None, Region, Region] | None:
    """(memory, elements written, elements read) of ``x[i] = x[j]``."""
    if not call.does("sets item") or call.error is not None or len(call.inputs) != 2 or len(call.mutations) != 1:
        return None
    target, given = call.inputs
    written, read = call.mutations[0].region, region_of(given)
    if target.storage is None or target.storage != given.storage or written is None or read is None:
        return None
    return target.storage, written, read


def _hazard(story: Story, call: CallEvent) -> Hazard:
    site, tensor = call.callsite, call.mutations[0].tensor
    name = story.bindings.written_name(call, tensor) or story.bindings.name(tensor)
    return finding(
        CODE,
        "silent",
        message=_(
            "{line} copies a part of {tensor} that an earlier pass of the line had replaced, so it is not the part "
            "that stood there when the loop began. PyTorch gives no error."
        ).format(line=wording.spot(site), tensor=f"`{name}`" if name else _("the tensor")),
        fix=_("Take all parts at once, with an index (`x = x[order]`), or read from a copy (`old = x.clone()`)."),
        variable=name,
        tensor=tensor,
        write=call,
    )


RULE = Rule(check, gives_way=True)
