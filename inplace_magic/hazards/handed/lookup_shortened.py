"""A lookup with ``max_norm`` shortened rows of a table, and the table was read elsewhere as if it were as before."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.clone import where_it_is_handed
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

CODE = "lookup-shortened"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that looks something up."""
    told: set[Callsite | None] = set()
    for call in story.doing("looks up"):
        if call.kind != "in-place" or call.callsite in told:
            continue
        for mutation in call.mutations:
            meta = story.observations.get(mutation.tensor)
            read = _read_elsewhere(story, mutation.storage, call) if meta and not meta.is_trainable else None
            if read is not None:
                told.add(call.callsite)
                yield _hazard(story, call, mutation.tensor, read)


def _read_elsewhere(story: Story, storage: int | None, call: CallEvent) -> CallEvent | None:
    for read in story.given_memory(storage):
        if read.index <= call.index or read.does("looks up") or read.kind == "query" or read.does("compares"):
            continue
        return None if read.mutated else read
    return None


def _hazard(story: Story, call: CallEvent, tensor: int, read: CallEvent) -> Hazard:
    name = story.bindings.name(tensor) or story.bindings.written_name(call, tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads {table}, but {lookup} had shortened rows of it: a lookup with `max_norm` writes its table. "
            "PyTorch gives no error; the read sees the new values."
        ).format(
            read=wording.spot(read.callsite),
            lookup=wording.spot(call.callsite),
            table=f"`{name}`" if name else _("the table"),
        ),
        fix=_("Look up in a copy (`table.clone()`), or shorten the table once, where everybody is to see it."),
        variable=name,
        read=read,
        tensor=tensor,
        write=call,
        badges=Badges(wrote=_("shortened here")),
    )


RULE = Rule(check, {CODE: Cures((where_it_is_handed,))})
