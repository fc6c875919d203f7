"""A function that was given a tensor wrote it through a NumPy array, and its caller read the tensor on.

``Tensor.numpy()`` copies nothing (https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html: "tensor and
the returned ndarray share the same storage"), and many functions of NumPy write the array that they are given.

Bad::

    def closest(distances):
        table = distances.numpy()
        np.fill_diagonal(table, np.inf)         # the caller's diagonal, too
        return table.argmin()

    pair = closest(distances)
    total = distances.sum()

Good::

    def closest(distances):
        table = distances.numpy().copy()
        np.fill_diagonal(table, np.inf)
        return table.argmin()

    pair = closest(distances)
    total = distances.sum()

Told from the record: a run of a function gave out the memory of a tensor that was made outside it, code outside PyTorch
wrote that memory in the same run, at a line that is known, and the tensor was read after the run. Silent where the
function is called as a statement of its own, which says that it is there for what it does; for a buffer that nothing
was written to before; for leaves that are trained; and where the memory was written again after the read, as a state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.array_copied import array_copied
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, ForeignWrite
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

CODE = "array-written-inside"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    seen: set[Callsite] = set()
    for write in story.trace.foreign:
        if write.callsite is None or write.callsite in seen:
            continue
        seen.add(write.callsite)
        given = _given_out(story, write)
        if given is None or not _is_another_s(story, given):
            continue
        read = _read_afterwards(story, given, write)
        if read is not None and not _goes_on(story, write, read):
            yield _hazard(story, given, write, read)


def _given_out(story: Story, write: ForeignWrite) -> CallEvent | None:
    """The call, in the run of the function that wrote, that gave out the memory last."""
    found = None
    for call in story.trace.calls:
        if call.index >= write.noticed:
            break
        if call.does("gives array") and call.inputs and call.inputs[0].storage == write.storage:
            same = call.callsite is not None and call.callsite.same_run(write.callsite)
            found = call if same else None
    return found


def _is_another_s(story: Story, given: CallEvent) -> bool:
    """Whether the tensor was made outside the function, with values that mean something, and the function's caller
    wants something else of it."""
    site, tensor = given.callsite, given.inputs[0]
    if site is None or site.caller is None or tensor.is_trainable:
        return False
    maker = story.maker_of_storage(tensor.storage)
    made = maker.callsite if maker is not None else None
    if maker is None or any(site.same_run(place) for place in (made.chain if made else ())):
        return False
    if maker.does("buffer") and all(write.at > given.index for write in story.writes_to_memory(tensor.storage)):
        return False
    called, statement = expressions.parse(site.caller.expression), expressions.parse(site.caller.statement)
    alone = isinstance(statement, ast.expr) and called is not None and ast.dump(statement) == ast.dump(called)
    gives_it_back = any(alias.target == "return" for alias in story.aliases.beside(site) if _is_it(alias.source, site))
    return not alone and not gives_it_back


def _is_it(source: str, site: Callsite) -> bool:
    """Whether a returned name is the tensor that was given out, or its array."""
    return source in (site.targets or ()) or site.expression.startswith(f"{source}.")


def _read_afterwards(story: Story, given: CallEvent, write: ForeignWrite) -> CallEvent | None:
    """The first call outside that run of the function that reads the memory, unless it was written anew before."""
    site = given.callsite
    assert site is not None
    for call in story.trace.calls:
        if call.index < write.noticed or all(meta.storage != write.storage for meta in call.inputs):
            continue
        inside = call.callsite is not None and any(site.same_run(place) for place in call.callsite.chain)
        if call.does("overwrites"):
            return None
        if not inside and call.error is None and not call.does("gives array"):
            return call
    return None


def _goes_on(story: Story, write: ForeignWrite, read: CallEvent) -> bool:
    """Whether the memory was written from outside again after the read."""
    return any(other.noticed > read.index for other in story.foreign_writes[write.storage])


def _hazard(story: Story, given: CallEvent, write: ForeignWrite, read: CallEvent) -> Hazard:
    name = story.bindings.name(given.inputs[0].tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads {tensor}, but {write} had written it: {array} is an array on its memory, and no copy. "
            "PyTorch gives no error; the read sees the new values."
        ).format(
            read=wording.spot(read.callsite),
            write=wording.spot(write.callsite),
            array=wording.code(given.callsite.expression) if given.callsite is not None else _("the array"),
            tensor=f"`{name}`" if name else _("a tensor"),
        ),
        fix=_("Work on a copy: {array} with `.copy()` behind it.").format(
            array=wording.code(given.callsite.expression) if given.callsite is not None else _("the array")
        ),
        variable=name,
        origin=given.callsite,
        read=read,
        tensor=given.inputs[0].tensor,
        write=Write(None, None, write.noticed, site=write.callsite),
    )


RULE = Rule(check, {CODE: Cures((array_copied,))})
