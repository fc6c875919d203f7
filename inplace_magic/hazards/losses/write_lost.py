"""A write that was lost: it went into a copy that nobody could read any more when the line was over.

A slice (``x[1:3]``) is a view of ``x``; a list, a mask or a tensor as an index picks elements into a new tensor
(https://docs.pytorch.org/docs/stable/tensor_view.html: "advanced indexing … returns a copy"). ``reshape``, ``flatten``
and ``contiguous`` copy where the elements do not lie in the right order, and ``to`` and ``float`` where there is
something to convert. ``torch.diag(x)`` gives a new tensor, and so does a parametrized layer each time its ``weight`` is
asked for. An in-place method of such a result leaves the tensor as it was. So does ``x[:2].data = …``, which gives
other memory to the slice alone, and ``head.data = …`` after ``head = x[:2]``.

Bad::

    boxes[:, [0, 2]].clamp_(0, 16)  # boxes stay as they were
    boxes[mask][0] = 1              # and here
    torch.diag(x).fill_(1)

Good::

    boxes[:, [0, 2]] = boxes[:, [0, 2]].clamp(0, 16)
    boxes[:, 0:3:2].clamp_(0, 16)
    x.fill_diagonal_(1)

Told from the record alone: the written memory was made in the same statement, out of another tensor; no call read it
after the write; it died with the statement; and the other memory was read afterwards, or has a name still. Silent for
an explicit ``clone()``, and where the line does something with the result of the write, as when it returns it: whoever
asks that for its shape alone calls nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.out_of_place import assigned_back
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

CODE = "write-lost"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place of such a write."""
    seen = set()
    for call in story.direct:
        site = call.callsite
        if call.does("takes memory") and site is not None and site not in seen:
            made = _part_given_memory(story, call)
            if made is not None and _is_needed(story, made.inputs[0], call.index + 1):
                seen.add(site)
                yield _of_a_part(story, call, made)
        if call.kind != "in-place" or call.error is not None or site is None or site in seen:
            continue
        if not call.does("sets item") and not _drops_the_result(site):
            continue
        for mutation in call.mutations[:1]:
            died = story.ended.get(mutation.storage) if mutation.storage is not None else None
            made = _made_for(story, call, mutation) if died is not None else None
            over = _end_of_statement(story, call, mutation) if made is not None else None
            if over is None or (died is not None and died > over):
                made = _never_read(story, call, mutation) if died is not None else None
                over = call.index + 1
            if made is None:
                continue
            if _is_needed(story, made.inputs[0], over):
                seen.add(site)
                yield _hazard(story, call, mutation, made)


def _drops_the_result(site: Callsite) -> bool:
    """Whether a line calls for the effect alone: as a statement of its own, or in a list that nobody keeps."""
    if site.expression == site.statement:
        return True
    statement, value = expressions.parse(site.statement), expressions.parse(site.expression)
    entry = statement.elt if isinstance(statement, (ast.ListComp, ast.SetComp)) else None
    return entry is not None and value is not None and ast.dump(entry) == ast.dump(value)


def _made_for(story: Story, call: CallEvent, mutation: Mutation) -> CallEvent | None:
    """The call of the same statement that made the written memory, out of another tensor."""
    made, site = story.maker_of_storage(mutation.storage), call.callsite
    if made is None or made.kind != "ordinary" or made.does("clone") or not made.inputs or made.index == call.index:
        return None
    source = made.inputs[0]
    other = (
        source.storage is not None
        and source.storage != mutation.storage
        and made.modules[: len(call.modules)] == call.modules
    )
    return made if other and site is not None and site.same_statement(made.callsite) else None


def _part_given_memory(story: Story, call: CallEvent) -> CallEvent | None:
    """The call that gave a part of a tensor that then got other memory: in the same statement, ``x[:3].data = …``,
    or under a name that the function alone has, ``head = x[:3]``. None where that part was read afterwards."""
    part = call.inputs[0] if call.inputs else None
    if part is not None and all(meta.storage == part.storage for meta in call.inputs):
        return None  # its own memory, as `x[:3].data *= 2` gives back what it wrote
    made = story.innermost_new(part.tensor, call.index) if part is not None else None
    if part is None or made is None or not made.does("gives item") or not made.inputs or call.callsite is None:
        return None
    read = story.given_to.get(part.tensor, ())[-1:]
    if any(each.index > call.index for each in read):
        return None
    if call.callsite.same_statement(made.callsite):
        return made
    targets = made.callsite.targets if made.callsite is not None and made.callsite.same_run(call.callsite) else None
    name = targets[0] if targets and len(targets) == 1 else None
    local = name is not None and name.isidentifier() and name != "return"
    return made if local and all(entry.tensor != part.tensor for entry in story.trace.names) else None


def _never_read(story: Story, call: CallEvent, mutation: Mutation) -> CallEvent | None:
    """The call that made the written memory, as a copy of elements that might have been a view, where the write was the
    last thing that happened to it."""
    made = story.maker_of_storage(mutation.storage)
    if made is None or made.kind != "ordinary" or not made.does("picks") or not made.inputs:
        return None
    tensors = story.bindings.by_storage.get(mutation.storage or 0, ())
    later = any(used.index > call.index for tensor in tensors for used in story.given_to.get(tensor, ())[-1:])
    source = made.inputs[0]
    others = story.bindings.by_storage.get(source.storage or 0, ())
    goes_on = any(used.index > call.index for tensor in others for used in story.given_to.get(tensor, ())[-1:])
    return None if later or not goes_on or source.storage in (None, mutation.storage) else made


def _end_of_statement(story: Story, call: CallEvent, mutation: Mutation) -> int | None:
    """Index of the first call behind the statement; None where one in it read what was written, but for Python's own
    ``x[i] = …`` at the end of ``x[i] += 1``, which puts the result into the copy that it was taken from."""
    index = call.index + 1
    while (later := story.calls.get(index)) is not None and call.callsite is not None:
        if not call.callsite.same_statement(later.callsite):
            break
        puts_back = later.does("sets item") and later.mutations and later.mutations[0].storage == mutation.storage
        if not puts_back and any(meta.storage == mutation.storage for meta in later.inputs):
            return None
        index += 1
    return index


def _is_needed(story: Story, source: TensorMetadata, since: int) -> bool:
    """Whether anybody can miss the write: the memory is read afterwards, or named when the watch ends."""
    tensors = story.bindings.by_storage.get(source.storage, ()) if source.storage is not None else ()
    if any(story.names.get(tensor) for tensor in tensors):
        return True
    return any(call.index >= since for tensor in tensors for call in story.given_to.get(tensor, ()))


def _hazard(story: Story, call: CallEvent, mutation: Mutation, made: CallEvent) -> Hazard:
    site, source = call.callsite, story.bindings.name(made.inputs[0].tensor)
    copied = " ".join(made.callsite.expression.split()) if made.callsite is not None else ""
    if source is None:
        told = _(
            "{line} writes into a new tensor, and the write is lost: {copied} made that tensor, nobody read it before "
            "it was gone, and what it was made from keeps its old values. PyTorch gives no error."
        )
    elif made.does("picks"):
        told = _(
            "{line} writes into a copy, and the write is lost: {copied} made the copy out of elements of {tensor}, and "
            "nobody read it before it was gone. {tensor} keeps its old values. PyTorch gives no error."
        )
    else:
        told = _(
            "{line} writes into a new tensor, and the write is lost: {copied} computed it from {tensor}, and "
            "nobody read it before it was gone. {tensor} keeps its old values. PyTorch gives no error."
        )
    return finding(
        CODE,
        "silent",
        message=told.format(line=wording.spot(site), copied=wording.code(copied), tensor=f"`{source}`"),
        fix=_(
            "Write into the tensor itself: assign the result to its elements (`x[index] = …`), or write a view of it. "
            "A slice gives a view; a list, a mask or a tensor as an index never does."
        ),
        variable=copied or source,
        origin=made.callsite,
        tensor=mutation.tensor,
        write=call,
        badges=Badges(wrote=_("lost here")),
    )


def _of_a_part(story: Story, call: CallEvent, made: CallEvent) -> Hazard:
    name = story.bindings.name(made.inputs[0].tensor)
    part = " ".join(made.callsite.expression.split()) if made.callsite is not None else ""
    return finding(
        CODE,
        "silent",
        message=_(
            "{line} writes nothing: {part} makes a tensor that nobody else has, and an assignment to `.data` gives "
            "that one other memory. {tensor} keeps its old values. PyTorch gives no error."
        ).format(
            line=wording.spot(call.callsite),
            part=wording.code(part),
            tensor=f"`{name}`" if name else _("The other tensor"),
        ),
        fix=_("Assign to the elements: {part} without `.data`.").format(part=wording.code(f"{part} = …")),
        variable=part or name,
        origin=made.callsite,
        tensor=made.inputs[0].tensor,
        write=call,
        badges=Badges(wrote=_("lost here")),
    )


def _assigned(write: Written) -> Fix | None:
    """``x[rows] = x[rows].clamp(0, 1)`` for ``x[rows].clamp_(0, 1)``."""
    made = write.story.maker_of_storage(write.mutation.storage) if write.mutation is not None else None
    source = made.inputs[0] if made is not None and made.inputs else None
    if source is None or source.is_trainable:
        return None
    text = assigned_back(write.listing, write.statement)
    edit = write.listing.replace(write.statement, text) if text is not None else None
    return Fix(write.site, write.listing, (edit,)) if edit is not None else None


RULE = Rule(check, {CODE: Cures((_assigned,))})
