"""What a line made and nobody read, though the line reads as if it had changed something.

The same fact three times: no call ever gets the result, and the program goes on with a tensor beside it as if that had
the new values. ``write-lost``: the write went into a copy that the statement itself had made. ``result-thrown-away``:
the method gave a new tensor. ``rebound-lost``: the new tensor got the name of the loop's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import whole_listing
from inplace_magic.source.out_of_place import assigned_back, receiver
from inplace_magic.source.spots import spot_of


def write_lost(story: Story) -> Iterator[Found]:
    """Yield each write of what nobody can read any more when the line is over."""
    for call in story.direct:
        if call.kind != "in-place" or call.error is not None or not call.mutations or call.callsite is None:
            continue
        mutation = call.mutations[0]
        if mutation.storage not in story.ended or not (call.does("sets item") or _is_a_call_alone(call.callsite)):
            continue
        made = _copy_written(story, call, mutation)
        if made is None or not _goes_on(story, made.inputs[0], call.index):
            continue
        source = story.bindings.name(made.inputs[0].tensor)
        copied = " ".join(made.callsite.expression.split()) if made.callsite is not None else ""
        message = _INTO_THE_NAMELESS if source is None else _INTO_ELEMENTS if made.does("picks") else ""
        words = {"copied": wording.code(copied), "tensor": f"`{source}`"}
        yield Found({"line": call, "origin": made}, mutation.tensor, copied or source, words, message=message)


_INTO_THE_NAMELESS = N_(
    "{line} writes into a new tensor, and the write is lost: {copied} made that tensor, nothing read it "
    "afterwards, and its source keeps the old values. PyTorch gives no error."
)
_INTO_ELEMENTS = N_(
    "{line} writes into a copy, and the write is lost: {copied} copied elements of {tensor}, and "
    "nothing read the copy afterwards. {tensor} keeps its old values. PyTorch gives no error."
)


def _copy_written(story: Story, call: CallEvent, mutation: Mutation) -> CallEvent | None:
    """Return the call that made the written memory out of another tensor, where nobody reads it: made in this statement
    and gone with it; or made of elements that might have been a view, the write being the last thing that happened to
    it."""
    made = story.maker_of_storage(mutation.storage)
    if made is None or made.kind != "ordinary" or made.does("clone") or not made.inputs or made.index == call.index:
        return None
    if made.inputs[0].storage in (None, mutation.storage):
        return None
    if call.callsite is not None and call.callsite.same_statement(made.callsite):
        over = _end_of_statement(story, call, mutation)
        if over is not None and story.ended[mutation.storage or 0] <= over:
            return made if made.modules[: len(call.modules)] == call.modules else None
    if not made.does("picks") or _is_read(story, mutation.storage, call.index) or _was_used(story, call, mutation):
        return None
    return made if _is_read(story, made.inputs[0].storage, call.index) else None


def _was_used(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """True if another line wrote the copy before and a third one read that: it is memory of its own by then, as a batch
    that is normalised in place, and put back after its loss."""
    writes = (write for write, _ in story.writes_to_storage.get(mutation.storage or 0, ()) if write.index < call.index)
    first = next((write.index for write in writes if write.callsite != call.callsite), call.index)
    users = (user for user in story.given_memory(mutation.storage) if first < user.index < call.index)
    return any(user.kind == "ordinary" for user in users)


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


def _is_read(story: Story, storage: int | None, since: int) -> bool:
    """True if a call after another one gets a tensor on a memory."""
    return any(call.index > since for call in story.given_memory(storage)[-1:])


def _goes_on(story: Story, source: TensorMetadata, since: int) -> bool:
    """True if somebody can miss the write: the memory is read afterwards, or named when the watch ends."""
    tensors = story.bindings.by_storage.get(source.storage, ()) if source.storage is not None else ()
    return any(story.names.get(tensor) for tensor in tensors) or _is_read(story, source.storage, since)


def written_back(write: Written) -> Fix | None:
    """``x[rows] = x[rows].clamp(0, 1)`` for ``x[rows].clamp_(0, 1)``."""
    made = write.story.maker_of_storage(write.mutation.storage) if write.mutation is not None else None
    if made is None or not made.inputs or made.inputs[0].is_trainable:
        return None
    line = assigned_back(write.listing, write.statement)
    sentence = _("Write the result back into the tensor: {line}.").format(line=wording.code(line or ""))
    return write.rewritten(line, None, sentence)


def result_thrown_away(story: Story) -> Iterator[Found]:
    """Yield each statement that is a call of an ordinary method, and whose result nothing uses."""
    for call in story.at({key for key, site in story.sites.items() if _is_a_call_alone(site)}):
        site = call.callsite
        if site is None or call.error is not None or len(call.outputs) != 1 or not call.inputs:
            continue
        made, given = call.outputs[0], call.inputs[0]
        if made.tensor == given.tensor or story.given_to.get(made.tensor):
            continue
        changes = call.does("has a form in place") or call.does("may hand back")
        if changes and not _is_shown(story, site) and _is_computed_with(story, call, given):
            name = path_text(receiver(expressions.parse(site.expression))) or story.bindings.name(given.tensor)
            words = {"operation": call.operation, "name": name or "x", "code": " ".join(site.expression.split())}
            yield Found({"line": call}, given.tensor, name, words)


def _is_a_call_alone(site: Callsite) -> bool:
    return site.direct and site.expression.strip() == site.statement.strip()


def _is_shown(story: Story, site: Callsite) -> bool:
    """True if a statement is the last one of a cell, whose value the notebook shows."""
    if site.cell is None or site.function != "<module>":
        return False
    listing = whole_listing(story.trace, site)
    body = listing.tree.body if listing is not None and isinstance(listing.tree, ast.Module) else []
    return not body or body[-1].lineno <= site.line


def _is_computed_with(story: Story, call: CallEvent, given: TensorMetadata) -> bool:
    """True if another statement of the same run computes with the tensor afterwards, as if it had been changed."""
    here, later = call.callsite, story.given_between(given.tensor, call.index, len(story.calls))
    sites = (each.callsite for each in later if each.kind != "query")
    places = (place for site in sites if site is not None for place in site.chain)
    return here is not None and any(here.same_run(place) and not here.same_statement(place) for place in places)


def bound(write: Written) -> Fix | None:
    """``scores = scores.masked_fill(padding, 0)``."""
    path = path_text(receiver(write.statement.value)) if isinstance(write.statement, ast.Expr) else None
    plain = path is not None and path.isidentifier()
    return write.rewritten(f"{path} = {write.listing.text(write.statement)}") if plain else None


def rebound_lost(story: Story) -> Iterator[Found]:
    """Yield each statement of a loop that binds the loop's own variable to what nobody reads."""
    names = {key: name for key, site in story.sites.items() if (name := _name_bound(site)) is not None}
    plain = (call for call in story.at(names) if len(call.outputs) == 1 and not call.mutations)
    for site, calls in grouped((call.callsite, call) for call in plain).items():
        unread = all(not story.given_to.get(call.outputs[0].tensor) for call in calls)
        name = names[id(site)]
        if site is not None and unread and _is_the_loops(story, site, name):
            yield Found({"line": calls[0]}, calls[0].outputs[0].tensor, name, {"name": name})


def _name_bound(site: Callsite) -> str | None:
    """Return the name that a line of the user's own gives its value."""
    targets = site.bound if site.direct else None
    name = targets[0] if targets is not None and len(targets) == 1 else None
    return name if name is not None and name.isidentifier() else None


def _is_the_loops(story: Story, site: Callsite, name: str) -> bool:
    """True if the innermost loop around a line binds the name, and nothing below the line reads it."""
    spot = spot_of(story.trace, site)
    loop = spot.loops[0] if spot is not None and spot.loops else None
    if spot is None or not isinstance(loop, ast.For) or not expressions.mentions(loop.target, name):
        return False
    nodes, end = ast.walk(spot.scope), spot.statement.end_lineno or spot.statement.lineno
    loads = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return all(node.id != name or node.lineno <= end for node in loads)


RULES = rules_of(
    Row(
        "write-lost",
        "silent",
        write_lost,
        message=N_(
            "{line} writes into a new tensor, and the write is lost: {copied} computed that tensor from "
            "{tensor}, and nothing read it afterwards. {tensor} keeps its old values. PyTorch gives no error."
        ),
        fix=N_(
            "Write into the tensor itself: assign the result to its elements (`x[index] = …`), or write a view of it. "
            "A slice gives a view; a list, a mask or a tensor as an index never does."
        ),
        ways=(written_back,),
        badges=Badges(wrote=N_("lost here")),
    ),
    Row(
        "result-thrown-away",
        "silent",
        result_thrown_away,
        message=N_(
            "{line} makes a new tensor that nothing uses: `{operation}` leaves {tensor} unchanged. PyTorch "
            "gives no error."
        ),
        fix=N_("Bind the result: `{name} = {code}`."),
        nameless=N_("its tensor"),
        ways=(bound,),
        badges=Badges(wrote=N_("nothing uses it here")),
    ),
    Row(
        "rebound-lost",
        "silent",
        rebound_lost,
        message=N_(
            "{line} binds the loop variable `{name}` to another tensor, which nothing reads: an assignment to a name "
            "writes nothing, so the tensors that the loop goes through keep their values. PyTorch gives no error."
        ),
        fix=N_(
            "Write into the tensor (`{name}.copy_(…)` under `torch.no_grad()`), or store the new one where the loop "
            "takes its tensors from."
        ),
        badges=Badges(wrote=N_("bound again here")),
    ),
    every_call=True,
)
