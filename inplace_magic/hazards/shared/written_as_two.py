"""One tensor stands in two places as two states, and is written by both: each write changes the other state.

So it is with ``q.data = p.data``, again and again. To tie two tensors once is enough; who gives one the other's memory
in each pass takes that for a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.of_origin import copied
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.engine import Reference, writes_since
from inplace_magic.hazards.references.objects.two_slots import WrittenAsTwo, written_as_two
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

_MOST = 256
"""Writes between two assignments that are looked at."""


@dataclass(frozen=True)
class GivenAgain:
    """A tensor that was given another one's memory by one line twice, with a write by each of the two in between."""

    given: CallEvent
    """The first time."""
    tensor: int
    own: Write
    """By the tensor that was given the memory."""
    theirs: Write
    """By the one whose memory it is."""


def given_again(story: Story) -> Iterator[GivenAgain]:
    """Yields one for each line that gives memory."""
    first: dict[tuple[object, ...], tuple[CallEvent, int]] = {}
    told = set()
    for call in story.doing("takes memory"):
        if call.error is not None or len(call.inputs) < 2 or call.callsite is None or call.callsite in told:
            continue
        target, source = call.inputs[:2]
        if target.requires_grad:
            continue  # a leaf that is trained: `taken-memory-trained` tells of those
        owner = _owner(story, source.tensor, call.index)
        key = (call.callsite, target.tensor, owner, source.storage)
        if source.storage is None or owner == target.tensor:
            continue
        before = first.setdefault(key, (call, call.index))[0]
        if before is call or target.storage != source.storage:
            continue  # it still has memory of its own
        own = _written_by(story, source.storage, target.tensor, before.index, call.index)
        theirs = _written_by(story, source.storage, owner, before.index, call.index)
        if own is not None and theirs is not None:
            told.add(call.callsite)
            yield GivenAgain(before, target.tensor, own, theirs)


def _owner(story: Story, tensor: int, before: int) -> int:
    """`p` of ``p.data``, ``p.detach()``."""
    made = story.innermost_new(tensor, before)
    while (
        made is not None and made.kind == "view" and made.inputs and made.inputs[0].storage == made.outputs[0].storage
    ):
        tensor = made.inputs[0].tensor
        made = story.innermost_new(tensor, made.index)
    return tensor


def _written_by(story: Story, storage: int, tensor: int, since: int, until: int) -> Write | None:
    """The first write of a memory by a tensor, or a view of it, between two calls."""
    for count, write in enumerate(writes_since(story, Reference(tensor, storage, since, None))):
        if write.at >= until or count == _MOST:
            return None
        seen = write.mutation is not None and write.call is not None and write.site is not None
        if seen and write.mutation is not None and _owner(story, write.mutation.tensor, write.at) == tensor:
            return write
    return None


CODE = "written-as-two"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that writes on top of the other state."""
    for again in given_again(story):
        yield _given(again)
    seen = set()
    for found in written_as_two(story):
        if found.second.callsite not in seen:
            seen.add(found.second.callsite)
            yield _hazard(story, found)


def _given(found: GivenAgain) -> Hazard:
    site = found.given.callsite
    one, other = _sides(site)
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} gives `{one}` the memory of `{other}` instead of a copy: {first} and {second} both write it "
            "from then on, so each changes both. PyTorch gives no error."
        ).format(
            line=wording.spot(site),
            one=one,
            other=other,
            first=wording.line_of(found.own.site),
            second=wording.line_of(found.theirs.site),
        ),
        fix=_("Give it a copy: {code}.").format(code=wording.code(f"{one} = {other}.clone()")),
        variable=one.removesuffix(".data"),
        tensor=found.tensor,
        write=found.given,
        origin=site,
        read=found.theirs.call,
        badges=Badges(read=_("writes the same memory here")),
    )


def _sides(site: Callsite | None) -> tuple[str, str]:
    """Both sides of the assignment, as the line says them."""
    node = expressions.parse(site.statement) if site is not None else None
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return "q.data", "p.data"
    return ast.unparse(node.targets[0]), ast.unparse(node.value)


def memory_copied(write: Written) -> Fix | None:
    """``q.data = p.data.clone()``."""
    node, call = write.statement, write.call
    if call is None or not call.does("takes memory") or not isinstance(node, ast.Assign):
        return None
    return copied(write, write.listing, node.value)


def _hazard(story: Story, found: WrittenAsTwo) -> Hazard:
    first, second = found.first.callsite, found.second.callsite
    told = finding(
        CODE,
        "warning",
        message=_(
            "{line} continues from what {first} wrote: `{other}` and `{one}` are one tensor, so each write "
            "changes both. PyTorch gives no error."
        ).format(line=wording.spot(second), first=wording.spot(first), one=found.one, other=found.other),
        fix=_("Give `{one}` and `{other}` each a tensor of its own where they begin.").format(
            one=found.one, other=found.other
        ),
        variable=story.bindings.written_name(found.second, found.tensor) or found.other,
        tensor=found.tensor,
        write=found.second,
        origin=story.bindings.made_at.get(found.tensor),
    )
    return replace(told, mutations=tuple(place for place in (first, second) if place is not None))


RULE = Rule(check, {CODE: Cures((memory_copied,))})
