"""An in-place op reads elements that it also writes, for other positions.

The result then depends on the order in which the kernel goes through memory (vector width, threads, device): ``a -=
a[:, :1]`` subtracts from later columns a first column that is already zero. PyTorch raises for the cases that it can
decide cheaply and calls the others undefined (pytorch/pytorch issue 135487; aten/src/ATen/MemoryOverlap.h).

Bad::

    logits -= logits[:, :1]
    x[:, 1:] = x[:, :-1]

Good::

    logits = logits - logits[:, :1]
    x[:, 1:] = x[:, :-1].clone()

Reading exactly the elements that are written, each for its own position (``x.mul_(x)``), is fine; so is copying one
that is copied onto itself as well (``row[:] = row[0]``). So is a shift to the left, ``history[:, :-1] = history[:,
1:]``, of up to 32,768 elements on the CPU, where one thread reads each element before it overwrites it.

Told from the record alone: an elementwise call wrote some elements of a memory, another one of its operands lies on the
same memory, and by offsets, sizes and strides an element that is written for one position is read for another.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from inplace_magic.analysis.overlap import reads_what_it_writes, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.clone import of_what_is_read
from inplace_magic.hazards.fixes.new_tensor import made_out_of_place
from inplace_magic.hazards.fixes.target import Fix, Written, can_bind_anew
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata

CODE = "overlapping-write"

_ONE_THREAD = 32_768


_AUGMENTED = re.compile(r"(?P<name>[A-Za-z_][\w.]*) *(?P<operator>[-+*/%&|^]|\*\*|//)=(?!=)")
"""``prices /= …``: what is written and the operator."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place, however often it ran."""
    seen = set()
    for call in story.in_place:
        if call.error is not None or not call.does("elementwise"):
            continue
        for mutation, after in zip(call.mutations, call.mutated, strict=False):
            read = _overlapping_input(call, mutation, after)
            if read is None or call.callsite in seen:
                continue
            seen.add(call.callsite)
            variable = story.bindings.written_name(call, mutation.tensor)
            yield finding(
                CODE,
                "silent",
                message=_message(variable, call),
                fix=_fix(call),
                variable=variable,
                tensor=mutation.tensor,
                write=call,
            )


def _overlapping_input(call: CallEvent, mutation: Mutation, after: TensorMetadata) -> TensorMetadata | None:
    for read in call.inputs:
        if read.storage is None or read.storage != after.storage or read.tensor == after.tensor:
            continue  # as nearly always
        written = _written(call, mutation, after)
        if written is None:
            return None
        region = region_of(read)
        if region is not None and _is_read_in_time(written, region, after):
            continue
        if region is not None and reads_what_it_writes(written, region, copied=call.does("assigns")):
            return read
    return None


def _is_read_in_time(written: Region, read: Region, after: TensorMetadata) -> bool:
    """Whether each element is read before it is written, as in ``history[:, :-1] = history[:, 1:]``: on the CPU one
    thread goes through so few elements from the first to the last (``at::internal::GRAIN_SIZE``)."""
    alike = (written.shape, written.strides) == (read.shape, read.strides)
    return alike and read.offset > written.offset and after.device == "cpu" and math.prod(read.shape) <= _ONE_THREAD


def _written(call: CallEvent, mutation: Mutation, after: TensorMetadata) -> Region | None:
    if call.does("sets item"):
        return mutation.region  # unknown for an index by tensors
    return region_of(after)


def _message(variable: str | None, call: CallEvent) -> str:
    return _(
        "{line} writes {tensor} while it reads other elements of the same memory: an element that is still to be read "
        "may already hold its new value. PyTorch gives no error; the result depends on the order in which the kernel "
        "goes through memory."
    ).format(line=wording.spot(call.callsite), tensor=f"`{variable}`" if variable else _("a tensor"))


def _fix(call: CallEvent) -> str:
    if call.does("sets item"):
        return _("Read from a copy: append `.clone()` to the right-hand side of {line}.").format(
            line=wording.line_of(call.callsite)
        )
    written = _AUGMENTED.match(call.callsite.statement) if call.callsite is not None else None
    if written is None:
        return _("Make a new tensor instead of writing into this one, or clone what is read first.")
    return _(
        "Make a new tensor (`{name} = {name} {operator} …` instead of `{name} {operator}= …`), or clone what is read "
        "first."
    ).format(name=written["name"], operator=written["operator"])


def _out_of_place(write: Written) -> Fix | None:
    """``x = x - x[0]`` for ``x -= x[0]``."""
    return made_out_of_place(write) if isinstance(write.statement, ast.AugAssign) and can_bind_anew(write) else None


RULE = Rule(check, {CODE: Cures((_out_of_place, of_what_is_read))})
