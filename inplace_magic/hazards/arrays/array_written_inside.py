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
from functools import partial

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.array_copied import array_copied
from inplace_magic.hazards.references.engine import Reference, Stale, gone_stale
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

CODE = "array-written-inside"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    given = (call for call in story.trace.calls if story.trace.foreign and call.does("gives array") and call.inputs)
    references = (
        Reference(call.inputs[0].tensor, call.inputs[0].storage, call.index, call.callsite)
        for call in given
        if _is_another_s(story, call)
    )
    for stale in gone_stale(story, references, _written_inside, partial(_read_outside, story)):
        yield _hazard(story, stale)


def _written_inside(given: Reference, write: Write) -> bool:
    """Whether code outside PyTorch wrote in the run of the function that gave the memory out."""
    return write.call is None and write.site is not None and write.site.same_run(given.place)


def _is_another_s(story: Story, given: CallEvent) -> bool:
    """Whether the tensor was made outside the function, with values that mean something, and the function's caller
    wants something else of it."""
    site, tensor = given.callsite, given.inputs[0]
    if site is None or site.caller is None or tensor.is_trainable:
        return False
    maker = story.maker_of_storage(tensor.storage)
    made = maker.callsite if maker is not None else None
    if maker is None or (made is not None and made.is_below(site)):
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


def _read_outside(story: Story, given: Reference, write: Write) -> CallEvent | None:
    """The first call outside that run of the function that reads the memory, unless it was written anew before, or is
    written from outside PyTorch in other runs as well, as a state is."""
    place = given.place
    assert place is not None
    for call in story.trace.calls:
        if given.since < call.index and call.callsite == place:
            return None  # another run of the function
        if call.index < write.at or all(meta.storage != given.storage for meta in call.inputs):
            continue
        if call.does("overwrites"):
            return None
        inside = call.callsite is not None and call.callsite.is_below(place)
        if not inside and call.error is None and not call.does("gives array"):
            others = story.foreign_writes[given.storage or 0]
            return call if all(given.since < other.noticed <= call.index for other in others) else None
    return None


def _hazard(story: Story, stale: Stale) -> Hazard:
    given, name = stale.reference.place, story.bindings.name(stale.reference.tensor)
    if name is None and given is not None:
        node = expressions.parse(given.expression)
        said = (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)) if node is not None else ()
        name = next((each for each in said if each in given.parameters), None)
    array = wording.code(given.expression) if given is not None else _("the array")
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads {tensor}, but {write} had written it: {array} is an array on its memory, and no copy. "
            "PyTorch gives no error; the read sees the new values."
        ).format(
            read=wording.spot(stale.read.callsite),
            write=wording.spot(stale.write.site),
            array=array,
            tensor=f"`{name}`" if name else _("a tensor"),
        ),
        fix=_("Work on a copy: append `.copy()` to {array}.").format(array=array),
        variable=name,
        origin=given,
        read=stale.read,
        tensor=stale.reference.tensor,
        write=stale.write,
    )


RULE = Rule(check, {CODE: Cures((array_copied,))})
