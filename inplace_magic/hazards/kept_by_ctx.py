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
from inplace_magic.hazards.finding import Hazard
from inplace_magic.language import _, sentences
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.grouped import grouped_by
from inplace_magic.record.places import Callsite

_AT = attrgetter("at")
_INDEX = attrgetter("index")
_ByClass = dict[str | None, list[CallEvent]]


def found(story: Story, rule: str) -> Iterator[Hazard]:
    """Yields a finding for each write of such a tensor between ``forward`` and ``backward``."""
    forwards: dict[int, _ByClass] = {}
    for call in story.nested:
        if call.parent not in story.executed:
            continue
        within = _method(call.callsite, "backward")
        if within is None or within.rpartition(".")[2] not in story.nodes_of_functions:
            continue
        for meta in call.inputs:
            both = _written_between(story, within, meta, call, forwards)
            if both is not None:
                yield _hazard(story, rule, within, call, meta, *both)


def _method(site: Callsite | None, name: str) -> str | None:
    """Return the class whose method of that name a call was made in: ``Square`` of ``Square.backward``."""
    while site is not None:
        owner, _dot, method = site.function.rpartition(".")
        if owner and method == name:
            return owner
        site = site.caller
    return None


def _written_between(
    story: Story, owner: str, meta: TensorMetadata, read: CallEvent, forwards: dict[int, _ByClass]
) -> tuple[CallEvent, Write] | None:
    """The last call of this class's ``forward`` that read the tensor, and the first write after it from elsewhere.

    Args:
        story: the trace.
        owner: the class.
        meta: the tensor as it was read.
        read: the call of ``backward`` that read it.
        forwards: by tensor, the calls of each class's ``forward`` that got it; entered here.
    """
    if meta.counter is None:
        return None
    if meta.tensor not in forwards:
        forwards[meta.tensor] = grouped_by(
            lambda call: _method(call.callsite, "forward"), story.given_to.get(meta.tensor, ())
        )
    given = forwards[meta.tensor].get(owner, [])
    before = bisect_left(given, read.index, key=_INDEX)
    if not before:
        return None
    kept, writes = given[before - 1], story.writes.get(meta.counter, ())
    later = islice(writes, bisect_right(writes, kept.index, key=_AT), None)
    for write in takewhile(lambda write: write.at < read.index, later):
        own = owner in (_method(write.site, "forward"), _method(write.site, "backward"))
        if write.call is not None and not own:
            return kept, write
    return None


def _hazard(
    story: Story, rule: str, owner: str, read: CallEvent, meta: TensorMetadata, kept: CallEvent, write: Write
) -> Hazard:
    variable = story.name_written_by(write) or story.bindings.name(meta.tensor)
    name = owner.rpartition(".")[2]
    return Hazard(
        code=rule,
        severity="silent",
        message=sentences(
            _("{tensor} was overwritten by {write} after `{function}.forward` had read it ({kept}).").format(
                tensor=f"`{variable}`" if variable else _("A tensor"),
                write=wording.spot(write.site),
                function=name,
                kept=wording.place(kept.callsite),
            ),
            _(
                "`{function}.backward` reads it again, in {read}, and sees the new values: it was not kept by "
                "`ctx.save_for_backward`, so PyTorch compares no version, and the gradient is wrong without an error."
            ).format(function=name, read=wording.spot(read.callsite)),
        ),
        fix=_(
            "Keep it by `ctx.save_for_backward(…)` in `{function}.forward`, so that PyTorch raises instead; and let "
            "{line} give a new tensor."
        ).format(function=name, line=wording.line_of(write.site)),
        variable=variable,
        mutation=write.site,
        saved=kept.callsite,
        read=read.callsite,
        read_call=read.index,
        tensor=meta.tensor,
        call=write.call.index if write.call is not None else None,
        saved_call=kept.index,
        saved_by=f"{name}Backward",
    )
