"""Rows of one tensor were copied onto each other, and a row was copied on after another one had replaced it.

A loop that takes rows from the tensor that it fills reads what earlier passes have put there.

Bad::

    for i, j in enumerate(order):
        x[i] = x[j]                 # j < i: no longer the row it was

Good::

    x = x[order]

Told from the record alone: in one go of a line, an item of a tensor was assigned a plain item of the same tensor, which
an earlier pass had replaced by yet another one. Silent where something is computed from what is read, as in a
recurrence.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Region

CODE = "row-overwritten-first"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each such line."""
    replaced: dict[tuple[int | None, Region], Region] = {}
    site = None
    seen = set()
    for call in story.trace.calls:
        if call.kind == "query":
            continue
        if site is None or call.callsite is None or not site.same_statement(call.callsite):
            site, replaced = call.callsite, {}
        copied = _copied(call)
        if copied is None or site in seen:
            continue
        storage, written, read = copied
        if replaced.get((storage, read), read) != read:
            seen.add(site)
            yield _hazard(story, call)
        replaced[storage, written] = read


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


RULE = Rule(check)
