"""A function wrote the array that it was handed, by way of a tensor on it, and its caller read the array on.

``torch.from_numpy`` and ``from_dlpack`` copy nothing
(https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html: "The returned tensor and ndarray share the same
memory"), so what scales the tensor scales the array.

Bad::

    def classes(images):
        batch = torch.from_numpy(images)
        batch.sub_(0.5).div_(0.25)              # the caller's images, too
        return (batch @ weights).argmax(1)


    found = classes(images)
    brightest = images.max()

Good::

    def classes(images):
        batch = torch.from_numpy(images)
        batch = (batch - 0.5) / 0.25
        return (batch @ weights).argmax(1)


    found = classes(images)
    brightest = images.max()

Told from the record and the text: a tensor on memory that came from outside PyTorch was changed by numbers or by what
was measured of it; the text made the tensor on the memory of a parameter of that function, or of the class whose
attribute it is; and below the line that handed the array over, its caller reads it by the same name. Silent where the
function is called as a statement of its own or gives the tensor or the array back; for arrays that began as zeros or as
another buffer; for what adds other tensors to the array, as sums and counts do; where the function computes nothing
from what it wrote; and where it writes the same memory in several runs, as a state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.references.handed import is_called_alone
from inplace_magic.hazards.references.origins import comes_from_itself
from inplace_magic.hazards.references.runs import run_around
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.array_arguments import ArrayArgument, array_argument, gives_it_back, read_below
from inplace_magic.source.listing import whole_listing

CODE = "array-argument-written"

_MOST = 3
"""Memories that are looked at for each line that writes."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    foreign = {storage.storage for storage in story.trace.storages if storage.foreign}
    told: set[int | None] = set()
    asked: dict[Callsite, set[int | None]] = {}
    for call in story.trace.calls if foreign else ():
        site = call.callsite
        if site is None or site.caller is None or call.kind != "in-place" or call.error is not None:
            continue
        for mutation in call.mutations:
            memories = asked.setdefault(site, set())
            new = mutation.storage in foreign and mutation.storage not in told | memories
            if not new or len(memories) == _MOST:
                continue
            memories.add(mutation.storage)
            found = _surprise(story, call, site, mutation)
            if found is not None:
                told.add(mutation.storage)
                yield found
                break


def _surprise(story: Story, call: CallEvent, site: Callsite, mutation: Mutation) -> Hazard | None:
    path, listing = story.bindings.written_path(call, mutation.tensor), whole_listing(story.trace, site)
    if path is None or listing is None or not _changes_it_alone(story, call, mutation):
        return None
    argument = array_argument(listing, site.function, path)
    if argument is None or gives_it_back(argument, path) or _goes_on(story, call, site):
        return None
    if argument.owner is None and not _is_read_inside(story, call, site, mutation):
        return None
    handed = _handed_over(site, argument)
    if handed is None:
        return None
    caller, array = handed
    around = whole_listing(story.trace, caller)
    read = read_below(around, caller.line, array) if around is not None else None
    if read is None or around is None or story.trace.error is not None:
        return None
    statement = around.statement_on(read.lineno)
    place = replace(
        caller,
        line=read.lineno,
        end_line=read.end_lineno,
        column=None,
        end_column=None,
        text=around.lines[read.lineno - 1].strip(),
        expression=around.text(read),
        statement=around.text(statement) if statement is not None and not hasattr(statement, "body") else "",
    )
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads the array `{array}`, but {write} had written it: {tensor} was made on its memory, and copied "
            "nothing. PyTorch gives no error; the read sees the new values."
        ).format(
            read=wording.spot(place),
            array=array,
            write=wording.spot(site),
            tensor=wording.code(ast.unparse(argument.maker)),
        ),
        fix=_("Work on a copy: `torch.tensor({array})`, or write no tensor that was made on an array's memory.").format(
            array=argument.parameter
        ),
        variable=path,
        at=place,
        origin=caller,
        tensor=mutation.tensor,
        write=call,
    )


def _changes_it_alone(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """Whether the values were changed by numbers, or by what was computed from them: ``x.div_(255)``, ``x -=
    x.mean()``."""
    if call.does("overwrites") or call.does("copies in") or call.does("buffer"):
        return False
    if call.does("assigns") and not comes_from_itself(story, call, mutation):
        return False
    return call.does("scales") or comes_from_itself(story, call, mutation)


def _goes_on(story: Story, call: CallEvent, site: Callsite) -> bool:
    """Whether the line wrote the same memory in another run as well, as it does with a state. Each run may have made a
    tensor of its own on it, so the memory is known by its address."""
    pointers = {meta.data_ptr for meta in call.mutated}
    first, last = _run(story, call, site)
    return any(
        other.callsite == site and not first <= other.index <= last and pointers & {m.data_ptr for m in other.mutated}
        for other in story.trace.calls
    )


def _is_read_inside(story: Story, call: CallEvent, site: Callsite, mutation: Mutation) -> bool:
    """Whether the function computed something from what it had written, which it was called for."""
    _, last = _run(story, call, site)
    return any(
        meta.storage == mutation.storage and read.outputs and not read.mutations
        for read in (story.calls[index] for index in range(call.index + 1, last + 1))
        for meta in read.inputs
    )


def _run(story: Story, call: CallEvent, site: Callsite) -> tuple[int, int]:
    run = run_around(story, call, site.caller, site) if site.caller is not None else None
    return (run.first, run.last) if run is not None else (call.index, call.index)


def _handed_over(site: Callsite, argument: ArrayArgument) -> tuple[Callsite, str] | None:
    """(place that handed the array over, what it is called there)."""
    parameters = tuple(each.arg for each in (*argument.function.args.posonlyargs, *argument.function.args.args))
    caller = site.caller
    if argument.owner is None:
        if caller is None or is_called_alone(caller):
            return None
        path = expressions.path_text(expressions.parameter_argument(caller.expression, parameters, argument.parameter))
        return (caller, path) if path is not None else None
    while caller is not None:
        node = expressions.parse(caller.statement)
        for made in ast.walk(node) if node is not None else ():
            if isinstance(made, ast.Call) and _end(expressions.path_text(made.func)) == argument.owner:
                given = expressions.parameter_argument(ast.unparse(made), parameters, argument.parameter)
                path = expressions.path_text(given)
                return (caller, path) if path is not None else None
        caller = caller.caller
    return None


def _end(path: str | None) -> str:
    return (path or "").rpartition(".")[2]


RULE = Rule(check)
