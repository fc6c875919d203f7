"""A custom ``Function`` kept a tensor for its ``backward`` by itself (``ctx.x = x``), and somebody wrote it in between.

``ctx.save_for_backward(x)`` notes the version, and PyTorch compares it; an attribute of `ctx` is any Python object. The
record shows it all the same: ``backward`` reads, at a later version, a tensor that ``forward`` had read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice, takewhile
from operator import attrgetter

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.rule import Calls, Event, Found, Row
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.grouped import grouped_by
from inplace_magic.source.chains import class_around

_AT = attrgetter("at")
_INDEX = attrgetter("index")
_ByClass = dict[str | None, list[CallEvent]]


def kept_by_ctx(story: Story) -> Iterator[Found]:
    """Yield each write of such a tensor between ``forward`` and ``backward``."""
    forwards: dict[int, _ByClass] = {}
    for call in story.nested:
        if not story.went_through(call.parent):
            continue
        within = class_around(call.callsite, "backward")
        if within is None or within.rpartition(".")[2] not in story.nodes_of_functions:
            continue
        for meta in call.inputs:
            both = _written_between(story, within, meta, call, forwards)
            if both is not None:
                kept, write = both
                name = within.rpartition(".")[2]
                words = {"function": name, "kept_place": wording.place(kept.callsite)}
                variable = story.name_written_by(write) or story.bindings.name(meta.tensor)
                calls: dict[str, Event | None] = {"kept": kept, "write": write, "read": call}
                yield Found(calls, meta.tensor, variable, words, saved_by=f"{name}Backward")


def _written_between(
    story: Story, owner: str, meta: TensorMetadata, read: CallEvent, forwards: dict[int, _ByClass]
) -> tuple[CallEvent, Write] | None:
    """The last call of this class's ``forward`` that read the tensor, and the first write after it from elsewhere.

    Args:
        forwards: by tensor, the calls of each class's ``forward`` that got it; entered here.
    """
    if meta.counter is None:
        return None
    if meta.tensor not in forwards:
        forwards[meta.tensor] = grouped_by(
            lambda call: class_around(call.callsite, "forward"), story.given_to.get(meta.tensor, ())
        )
    given = forwards[meta.tensor].get(owner, [])
    before = bisect_left(given, read.index, key=_INDEX)
    if not before:
        return None
    kept, writes = given[before - 1], story.writes.get(meta.counter, ())
    later = islice(writes, bisect_right(writes, kept.index, key=_AT), None)
    for write in takewhile(lambda write: write.at < read.index, later):
        own = owner in (class_around(write.site, "forward"), class_around(write.site, "backward"))
        if write.call is not None and not own:
            return kept, write
    return None


KEPT_BY_CTX = Row(
    "saved-values-changed",
    "silent",
    kept_by_ctx,
    Calls(write="write", saved="kept"),
    message=N_(
        "{tensor} was overwritten by {write} after `{function}.forward` had read it ({kept_place}). "
        "`{function}.backward` reads it again, in {read}, and sees the new values: it was not kept by "
        "`ctx.save_for_backward`, so PyTorch compares no version, and the gradient is wrong without an error."
    ),
    fix=N_(
        "Keep it by `ctx.save_for_backward(…)` in `{function}.forward`, so that PyTorch raises instead; and let "
        "{write_code} give a new tensor."
    ),
    nameless=N_("A tensor"),
)
