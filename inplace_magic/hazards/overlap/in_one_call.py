"""One call reads elements that it writes for other positions, or writes one element for several positions.

What a kernel does then depends on the order in which it goes through memory. PyTorch raises where it can decide that
cheaply (``rules/refused.py``); this is the rest, by offsets, sizes and strides.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from itertools import islice

from inplace_magic.analysis.overlap import (
    VIEWS_OF_VIEWS,
    may_meet,
    reads_what_it_writes,
    region_of,
    repeating,
    writes_one_element_twice,
)
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.binding import can_bind_anew
from inplace_magic.hazards.fixes.clone import of_what_is_read, where_it_was_made
from inplace_magic.hazards.fixes.new_tensor import cloned_first, made_out_of_place
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata
from inplace_magic.record.places import Callsite

_ONE_THREAD = 32_768
"""``at::internal::GRAIN_SIZE``."""

_AUGMENTED = re.compile(r"(?P<name>[A-Za-z_][\w.]*) *(?P<operator>[-+*/%&|^]|\*\*|//)=(?!=)")
"""``prices /= …``: what is written and the operator."""


def reads_other_elements(story: Story) -> Iterator[Found]:
    """Yield the elementwise writes that read an element for one position and write it for another."""
    for call, mutation, after in _writes(story):
        if call.does("elementwise") and _reads_other_elements(call, mutation, after):
            fix, words = _advice(call)
            yield Found({"line": call}, mutation.tensor, words=words, fix=fix)


def _writes(story: Story) -> Iterator[tuple[CallEvent, Mutation, TensorMetadata]]:
    """Yield each write that was made, with the written tensor as it was then."""
    for call in story.in_place:
        if call.error is None:
            yield from ((call, mutation, after) for mutation, after in zip(call.mutations, call.mutated, strict=False))


def _reads_other_elements(call: CallEvent, mutation: Mutation, after: TensorMetadata) -> bool:
    for read in call.inputs:
        if read.storage is None or read.storage != after.storage or read.tensor == after.tensor:
            continue  # as nearly always
        written = mutation.region if call.does("sets item") else region_of(after)  # None for an index by tensors
        region = region_of(read)
        if written is None or region is None or _is_read_in_time(written, region, after):
            continue
        if reads_what_it_writes(written, region, copied=call.does("assigns")):
            return True
    return False


def _is_read_in_time(written: Region, read: Region, after: TensorMetadata) -> bool:
    """True if each element is read before it is written, as in ``history[:, :-1] = history[:, 1:]``: on the CPU one
    thread goes through so few elements from the first to the last."""
    alike = (written.shape, written.strides) == (read.shape, read.strides)
    return alike and read.offset > written.offset and after.device == "cpu" and math.prod(read.shape) <= _ONE_THREAD


def _advice(call: CallEvent) -> tuple[str, dict[str, str]]:
    """Return the fix for a statement of this form, and its words; an empty one for the usual fix."""
    written = _AUGMENTED.match(call.callsite.statement) if call.callsite is not None else None
    if call.does("sets item"):
        return N_("Read from a copy: append `.clone()` to the right-hand side of {line_code}."), {}
    if written is None:
        return "", {}
    fix = N_(
        "Make a new tensor (`{name} = {name} {operator} …` instead of `{name} {operator}= …`), or clone what is read "
        "first."
    )
    return fix, written.groupdict()


def reads_more_than_once(story: Story) -> Iterator[Found]:
    """Yield the calls whose ``out=`` is an input that the operation reads more than once an element; not the one that
    ``addmm`` adds the product to."""
    for call, mutation, after in _writes(story):
        if not call.does("mixes") or after is not call.mutated[0]:
            continue
        given = call.inputs[1:] if call.does("adds a product") else call.inputs
        on_it = [meta for meta in given if meta.storage is not None and meta.storage == after.storage]
        if len(on_it) > 1 and all(may_meet(region_of(meta), region_of(after)) for meta in on_it):
            yield Found({"line": call}, mutation.tensor)


def _out_of_place(write: Written) -> Fix | None:
    """``x = x - x[0]`` for ``x -= x[0]``."""
    return made_out_of_place(write) if isinstance(write.statement, ast.AugAssign) and can_bind_anew(write) else None


def expanded_written(story: Story) -> Iterator[Found]:
    """Yield the writes of elements that stand for several positions each."""
    rows: dict[tuple[Callsite | None, int], tuple[int, Region]] = {}
    kept_up: dict[int, bool] = {}
    for call, mutation, after in _writes(story):
        region, index = region_of(after), mutation.region
        by_rows = index is not None and not writes_one_element_twice(index)  # the elements that it names are one each
        whole = None
        if region is None:
            continue
        if not writes_one_element_twice(region):
            found = _expanded_around(story, call, mutation, region)
            if found is None or not builds_on_itself(story, call, mutation):
                continue
            whole, part = found
            first, met = rows.setdefault((call.callsite, whole.tensor), (part, region))
            if first == part or not may_meet(met, region) or not _is_read_as_rows(story, call, whole):
                continue
        elif index.shape == region.shape if index is not None else call.does("fills"):
            continue  # every position gets the value anyway
        elif by_rows and not _is_read_as_rows(story, call, after):
            continue
        expanded = whole or after
        if expanded.tensor not in kept_up:
            kept_up[expanded.tensor] = _is_kept_up(story, call, expanded)
        if not kept_up[expanded.tensor]:
            made = repeating(story, mutation.tensor if whole is None else whole.tensor, call.index)
            place = wording.place(made.callsite if made is not None else None)
            words = {"shape": str(list(expanded.shape or ())), "place": place}
            message, fix = ("", "") if whole is None else (_IN_A_ROW, "")
            if made is None or made.callsite is None:
                message, fix = _OF_NOBODY
            yield Found({"line": call, "origin": made}, mutation.tensor, words=words, message=message, fix=fix)


_OF_NOBODY = (
    N_(
        "{line} writes {tensor} of shape {shape}, in which one element of memory stands for several positions: all of "
        "them changed."
    ),
    N_("Give it memory of its own first: write into `.clone()` of it."),
)
_IN_A_ROW = N_(
    "{line} writes the rows of a tensor of shape {shape}, in which one element of memory stands for "
    "several positions ({origin_code}, {place}): what it wrote into one row shows in other rows as well."
)


def _expanded_around(
    story: Story, call: CallEvent, mutation: Mutation, region: Region
) -> tuple[TensorMetadata, int] | None:
    """Return the tensor in which an element stands for several positions, and the row of it that the written one is a
    part of."""
    part = mutation.tensor
    for view in islice(story.views_back(part, call.index), VIEWS_OF_VIEWS):
        if view.inputs[0].storage != mutation.storage:
            return None
        whole = region_of(view.inputs[0])
        if whole is not None and math.prod(whole.shape) > math.prod(region.shape) and writes_one_element_twice(whole):
            return view.inputs[0], part
        part = view.inputs[0].tensor
    return None


def _is_kept_up(story: Story, call: CallEvent, whole: TensorMetadata) -> bool:
    """True if what lies below an expanded tensor is written by itself as well, since that was taken of it: whoever does
    so knows them to be one."""
    views = [*islice(story.views_back(whole.tensor, call.index), VIEWS_OF_VIEWS)]
    below = {view.inputs[0].tensor for view in views}
    later = (write.mutation for write in story.writes_between(whole.storage, views[0].index)) if views else ()
    return any(mutation is not None and mutation.tensor in below for mutation in later)


def _is_read_as_rows(story: Story, call: CallEvent, whole: TensorMetadata) -> bool:
    """True if a later line reads the rows themselves. Frames that overlap are also there to be added up, ``frames[i] +=
    window * part``, and what is read then is the signal below them."""
    if any(size > 1 and not stride for size, stride in zip(whole.shape or (), whole.strides or (), strict=True)):
        return True  # rows that are one row
    later = story.given_between(whole.tensor, call.index, len(story.calls))
    elsewhere = (each for each in later if each.callsite is not None and not each.callsite.same_line(call.callsite))
    return any(each.looks_at_values for each in elsewhere)


def _of_its_own(write: Written) -> Fix | None:
    """``grad = grad.clone()`` above ``grad[0] = 0`` in a ``backward``: nobody's line made the tensor."""
    return cloned_first(write) if write.hazard.origin is None and can_bind_anew(write) else None


RULES = rules_of(
    Row(
        "overlapping-write",
        "silent",
        reads_other_elements,
        message=N_(
            "{line} writes {tensor} while it reads other elements of the same memory: an element may hold its new "
            "value before it is read. PyTorch gives no error; the result depends on the order in which the kernel "
            "goes through memory."
        ),
        fix=N_("Make a new tensor instead of writing into this one, or clone what is read first."),
        ways=(_out_of_place, of_what_is_read),
    ),
    Row(
        "out-is-input",
        "silent",
        reads_more_than_once,
        message=N_(
            "{line} writes its result into {tensor} while it still reads {tensor}: it can overwrite elements that it "
            "still needs. PyTorch gives no error; the result depends on the kernel."
        ),
        fix=N_("Leave `out=` out and bind the result, which is then a new tensor."),
        nameless=N_("an input"),
        ways=(made_out_of_place,),
    ),
    Row(
        "expanded-tensor-written",
        "silent",
        expanded_written,
        message=N_(
            "{line} writes {tensor} of shape {shape}, in which one element of memory stands for several positions "
            "({origin_code}, {place}): all of them changed."
        ),
        fix=N_("Give it memory of its own first: `.clone()` what {origin_code} gives."),
        ways=(where_it_was_made, _of_its_own),
    ),
)
