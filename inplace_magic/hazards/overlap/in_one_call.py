"""One call reads elements that it writes for other positions, or writes one element for several positions.

What a kernel does then depends on the order in which it goes through memory. PyTorch raises where it can decide that
cheaply (``overlap_refused.py``); this is the rest, by offsets, sizes and strides.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator
from functools import partial

from inplace_magic.analysis.overlap import may_meet, reads_what_it_writes, region_of, writes_one_element_twice
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.binding import can_bind_anew
from inplace_magic.hazards.fixes.clone import of_what_is_read, where_it_was_made
from inplace_magic.hazards.fixes.new_tensor import cloned_first, made_out_of_place
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.repeated import repeating, views_back
from inplace_magic.hazards.rule import row
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata
from inplace_magic.record.places import Callsite

_ONE_THREAD = 32_768
"""``at::internal::GRAIN_SIZE``."""

_AUGMENTED = re.compile(r"(?P<name>[A-Za-z_][\w.]*) *(?P<operator>[-+*/%&|^]|\*\*|//)=(?!=)")
"""``prices /= …``: what is written and the operator."""


def _reads_and_writes(
    code: str, meets: Callable[[CallEvent, Mutation, TensorMetadata], bool], story: Story
) -> Iterator[Hazard]:
    """Yield one finding for each place that reads elements of the memory that it writes.

    Args:
        code: of the finding.
        meets: whether a write meets what the call reads.
        story: the trace.
    """
    seen = set()
    for call in story.in_place:
        if call.error is not None or call.callsite is None or call.callsite in seen:
            continue
        for mutation, after in zip(call.mutations, call.mutated, strict=False):
            if meets(call, mutation, after):
                seen.add(call.callsite)
                name = story.bindings.written_name(call, mutation.tensor)
                message, fix = (_of_order if code == "overlapping-write" else _of_out)(call, name)
                yield finding(
                    code, "silent", message=message, fix=fix, variable=name, tensor=mutation.tensor, write=call
                )
                break


def _elementwise(call: CallEvent, mutation: Mutation, after: TensorMetadata) -> bool:
    """True if an elementwise call reads an element for one position and writes it for another."""
    if not call.does("elementwise"):
        return False
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


def _mixing(call: CallEvent, mutation: Mutation, after: TensorMetadata) -> bool:
    """True if ``out=`` names an input of an operation that reads each element more than once; not the one that
    ``addmm`` adds the product to."""
    if not call.does("mixes") or after is not call.mutated[0]:
        return False
    given = call.inputs[1:] if call.does("adds a product") else call.inputs
    on_it = [meta for meta in given if meta.storage is not None and meta.storage == after.storage]
    return len(on_it) > 1 and all(may_meet(region_of(meta), region_of(after)) for meta in on_it)


def _of_order(call: CallEvent, name: str | None) -> tuple[str, str]:
    message = _(
        "{line} writes {tensor} while it reads other elements of the same memory: an element may hold its new "
        "value before it is read. PyTorch gives no error; the result depends on the order in which the kernel "
        "goes through memory."
    ).format(line=wording.spot(call.callsite), tensor=f"`{name}`" if name else _("a tensor"))
    written = _AUGMENTED.match(call.callsite.statement) if call.callsite is not None else None
    if call.does("sets item"):
        fix = _("Read from a copy: append `.clone()` to the right-hand side of {line}.")
        return message, fix.format(line=wording.line_of(call.callsite))
    if written is None:
        return message, _("Make a new tensor instead of writing into this one, or clone what is read first.")
    fix = _(
        "Make a new tensor (`{name} = {name} {operator} …` instead of `{name} {operator}= …`), or clone what is read "
        "first."
    )
    return message, fix.format(name=written["name"], operator=written["operator"])


def _of_out(call: CallEvent, name: str | None) -> tuple[str, str]:
    message = _(
        "{line} writes its result into {tensor} while it still reads {tensor}: elements that it needs later are "
        "overwritten. PyTorch gives no error."
    )
    return (
        message.format(line=wording.spot(call.callsite), tensor=f"`{name}`" if name else _("an input")),
        _("Leave `out=` out and bind the result, which is then a new tensor."),
    )


def _out_of_place(write: Written) -> Fix | None:
    """``x = x - x[0]`` for ``x -= x[0]``."""
    return made_out_of_place(write) if isinstance(write.statement, ast.AugAssign) and can_bind_anew(write) else None


def expanded_tensor_written(story: Story) -> Iterator[Hazard]:
    """Yield one finding for each place where an element that stands for several positions was written."""
    seen: set[Callsite | None] = set()
    rows: dict[tuple[Callsite | None, int], tuple[int, Region]] = {}
    kept_up: dict[int, bool] = {}
    for call in story.in_place:
        if call.error is not None:
            continue
        for mutation, after in zip(call.mutations, call.mutated, strict=False):
            region = region_of(after)
            if region is None or call.callsite in seen:
                continue
            whole = None
            if not writes_one_element_twice(region):
                found = _expanded_around(story, call, mutation, region)
                if found is None or not builds_on_itself(story, call, mutation):
                    continue
                whole, part = found
                first, met = rows.setdefault((call.callsite, whole.tensor), (part, region))
                if first == part or not may_meet(met, region) or not _is_read_as_rows(story, call, whole):
                    continue
            elif mutation.region.shape == region.shape if mutation.region is not None else call.does("fills"):
                continue  # every position gets the value anyway
            elif _is_a_row(mutation) and not _is_read_as_rows(story, call, after):
                continue
            expanded = whole or after
            if expanded.tensor not in kept_up:
                kept_up[expanded.tensor] = _is_kept_up(story, call, expanded)
            if not kept_up[expanded.tensor]:
                seen.add(call.callsite)
                yield _expanded(story, call, mutation, after, whole)


def _is_a_row(mutation: Mutation) -> bool:
    """True if an index named elements that are one each."""
    return mutation.region is not None and not writes_one_element_twice(mutation.region)


def _expanded_around(
    story: Story, call: CallEvent, mutation: Mutation, region: Region
) -> tuple[TensorMetadata, int] | None:
    """Return the tensor in which an element stands for several positions, and the row of it that the written one is a
    part of."""
    made = story.innermost_new(mutation.tensor, call.index)
    if made is None or made.kind != "view":
        return None  # as nearly always
    for tensor, view in views_back(story, mutation.tensor, call.index):
        if view.inputs[0].storage != mutation.storage:
            return None
        whole = region_of(view.inputs[0])
        if whole is not None and math.prod(whole.shape) > math.prod(region.shape) and writes_one_element_twice(whole):
            return view.inputs[0], tensor
    return None


def _is_kept_up(story: Story, call: CallEvent, whole: TensorMetadata) -> bool:
    """True if what lies below an expanded tensor is written by itself as well, since that was taken of it: whoever does
    so knows them to be one."""
    views = [view for _tensor, view in views_back(story, whole.tensor, call.index)]
    below = {view.inputs[0].tensor for view in views}
    return bool(views) and any(
        write.at > views[0].index and write.mutation is not None and write.mutation.tensor in below
        for write in story.writes_to_memory(whole.storage)
    )


def _is_read_as_rows(story: Story, call: CallEvent, whole: TensorMetadata) -> bool:
    """True if a later line reads the rows themselves. Frames that overlap are also there to be added up, ``frames[i] +=
    window * part``, and what is read then is the signal below them."""
    if any(size > 1 and not stride for size, stride in zip(whole.shape or (), whole.strides or (), strict=True)):
        return True  # rows that are one row
    later = story.given_between(whole.tensor, call.index, len(story.calls))
    elsewhere = (each for each in later if each.callsite is not None and not each.callsite.same_line(call.callsite))
    return any(each.looks_at_values for each in elsewhere)


def _expanded(
    story: Story, call: CallEvent, mutation: Mutation, after: TensorMetadata, whole: TensorMetadata | None
) -> Hazard:
    variable = story.bindings.written_name(call, mutation.tensor)
    made = repeating(story, mutation.tensor if whole is None else whole.tensor, call.index)
    origin = made.callsite if made is not None else None
    nowhere = _(
        "{line} writes {tensor} of shape {shape}, in which one element of memory stands for several positions: all of "
        "them changed."
    )
    message = (
        nowhere
        if origin is None
        else _(
            "{line} writes {tensor} of shape {shape}, in which one element of memory stands for several positions "
            "({origin}, {place}): all of them changed."
        )
        if whole is None
        else _(
            "{line} writes the rows of a tensor of shape {shape}, in which one element of memory stands for "
            "several positions ({origin}, {place}): what it wrote into one row shows in other rows as well."
        )
    )
    return finding(
        "expanded-tensor-written",
        "silent",
        message=message.format(
            line=wording.spot(call.callsite),
            tensor=f"`{variable}`" if variable else _("a tensor"),
            shape=list((whole or after).shape or ()),
            origin=wording.line_of(origin),
            place=wording.place(origin),
        ),
        fix=_("Give it memory of its own first: `.clone()` what {line} gives.").format(line=wording.line_of(origin))
        if origin is not None
        else _("Give it memory of its own first: write into `.clone()` of it."),
        variable=variable,
        origin=origin,
        tensor=mutation.tensor,
        write=call,
    )


def _of_its_own(write: Written) -> Fix | None:
    """``grad = grad.clone()`` above ``grad[0] = 0`` in a ``backward``: nobody's line made the tensor."""
    return cloned_first(write) if write.hazard.origin is None and can_bind_anew(write) else None


RULES = (
    row(
        "overlapping-write",
        "silent",
        partial(_reads_and_writes, "overlapping-write", _elementwise),
        _out_of_place,
        of_what_is_read,
    ),
    row("out-is-input", "silent", partial(_reads_and_writes, "out-is-input", _mixing), made_out_of_place),
    row("expanded-tensor-written", "silent", expanded_tensor_written, where_it_was_made, _of_its_own),
)
