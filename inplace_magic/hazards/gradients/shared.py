"""Gradients whose buffer somebody else has as well: a sibling branch, or a list of views."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from inplace_magic.analysis.backwards import closure
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.fixes.new_tensor import new_gradient, value_given
from inplace_magic.hazards.gradients.sums import nodes_with_hooks
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.paths import is_gradient
from inplace_magic.source.chains import class_around


def edited_by_a_hook(story: Story) -> Iterator[Found]:
    """Yield the writes of a hook or of a ``backward`` into a gradient that a sibling shares."""
    sharing: dict[int, set[int]] = {}
    for call in story.nested if story.in_place else ():
        if call.parent is None or call.kind != "in-place" or not story.went_through(call.parent):
            continue
        handed = next((write for write in call.mutations if _came_from_the_engine(story, call, write)), None)
        if handed is None:
            continue
        if call.parent not in sharing:
            sharing[call.parent] = _sharing(story, call.parent)
        if not sharing[call.parent].isdisjoint(_receivers(story, call)):
            yield Found({"line": call}, handed.tensor)


def _came_from_the_engine(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """True if the written tensor was handed to the user's code by backward: nothing recorded made it, and it was
    not seen before. The gradient of a leaf belongs to the leaf alone."""
    if is_gradient(story.bindings.written_name(call, mutation.tensor) or ""):
        return False
    backward = call.parent if call.parent is not None else -1
    return story.first_seen(mutation.tensor) > backward and story.innermost_new(mutation.tensor, call.index) is None


def _receivers(story: Story, call: CallEvent) -> frozenset[int]:
    """Return the nodes whose gradient the writing code was given: of a custom ``Function``'s ``backward``, of the
    tensors that have a hook, of the modules that have a backward hook."""
    owner = class_around(call.callsite, "backward")
    if owner is not None:
        return story.nodes_of_functions.get(owner.rpartition(".")[2], frozenset())
    return story.once(nodes_with_hooks)


def _sharing(story: Story, backward: int) -> set[int]:
    """Return the nodes that a backward may have given the same gradient as a sibling that runs later."""
    executed, found = story.went_through(backward), set[int]()
    entries = Counter(behind for user in executed for behind in story.nodes[user].next)
    for user in executed:
        if story.nodes[user].does("passes gradient on"):
            following = {behind for behind in story.nodes[user].next if behind is not None}
            for node in following if len(following) > 1 else ():
                others = [holder for other in following - {node} for holder in _holders(story, other)]
                if any(entries[other] > 1 or _runs_later(story, other, node) for other in others):
                    found.add(node)
    return found


def _holders(story: Story, first: int) -> set[int]:
    """Return a node, and those to which it hands the very gradient on that it was given."""
    nodes = story.nodes
    return closure([first], lambda number: nodes[number].next if nodes[number].does("passes gradient on") else ())


def _runs_later(story: Story, one: int, other: int) -> bool:
    """True if backward runs the first of two nodes after the second, once both have their gradients: it begins with the
    leaves and then takes the youngest, which is through with its gradient before the next one may edit it."""
    first, second = story.nodes[one], story.nodes[other]
    if first.variable is not None:
        return False
    return first.sequence is None or second.sequence is None or first.sequence < second.sequence


def added_to_what_was_kept(story: Story) -> Iterator[Found]:
    """Yield the backwards that added to a gradient of which a line had taken a view, as for a list that is joined
    later with views of other memory."""
    for call in story.doing("gathers") if story.added_to else ():
        makers = {meta.tensor: story.innermost_new(meta.tensor, call.index) for meta in call.inputs}
        places = Counter(maker.callsite for maker in makers.values() if maker is not None)
        memories = Counter(meta.storage for meta in call.inputs)
        for meta in call.inputs if call.error is None else ():
            taken = makers[meta.tensor]
            if taken is None or taken.kind != "view" or meta.tensor in taken.gave_back or places[taken.callsite] < 2:
                continue
            added = (at for at in story.added_to.get(meta.storage or 0, ()) if taken.index < at < call.index)
            backward = next(added, None)
            if backward is not None and memories[meta.storage] == 1:
                code = wording.code(taken.callsite.expression) if taken.callsite is not None else ""
                calls = {"line": taken, "backward": story.calls[backward], "read": call}
                yield Found(calls, meta.tensor, story.bindings.name(meta.tensor), {"code": code})


def left_behind(story: Story) -> Iterator[Found]:
    """Yield the lines that took the gradients out of a tensor, which is used afterwards as if they were in it."""
    for storage, leaves in _buckets(story).items():
        taken = [call for call in leaves.values() if call is not None]
        maker, writes = story.maker_of_storage(storage), story.writes_to_storage.get(storage, ())
        plain = all(call.does("zeroes") or call.does("fills") or call.does("scales") for call, _mutation in writes)
        if len(taken) < max(2, len(leaves)) or maker is None or not maker.does("buffer") or not plain:
            continue
        last = max(taken, key=lambda call: call.index)
        later = islice(story.backwards_run, bisect_right(story.backwards_run, last.index), None)
        filled = next((at for at in later if not story.calls[at].does("gives gradients")), None)
        if filled is None or story.gradients.leaves_of(filled).isdisjoint(leaves):
            continue
        used = (call for call in story.given_memory(storage) if call.kind == "ordinary" or call.does("scales"))
        read = next((call for call in used if call.index > filled), None)
        if read is not None:
            tensor = next(meta.tensor for meta in read.inputs if meta.storage == storage)
            calls = {"taken": last, "filled": story.calls[filled], "read": read}
            yield Found(calls, tensor, story.bindings.name(tensor))


def _buckets(story: Story) -> dict[int, dict[int, CallEvent | None]]:
    """Return, by memory, the leaves that had a part of it as their gradient, and the last call that took it away."""
    found: dict[int, dict[int, CallEvent | None]] = {}
    given: dict[int, int] = {}
    for call in story.doing("sets gradient"):
        leaf, *values = call.inputs or (None,)
        if leaf is None:
            continue
        before = given.pop(leaf.tensor, None)
        if before is not None:
            found[before][leaf.tensor] = call
        if values and values[0].storage is not None:
            given[leaf.tensor] = values[0].storage
            found.setdefault(values[0].storage, {})[leaf.tensor] = None
    return found


RULES = rules_of(
    Row(
        "shared-gradient-edited",
        "silent",
        edited_by_a_hook,
        nameless=N_("a gradient"),
        message=N_(
            "{line} edits {tensor} in place while backward runs. An addition gives the same gradient buffer to "
            "both of its branches, so the other branch's gradient changes too. PyTorch gives no error; a hook "
            "or `backward` must not modify its argument."
        ),
        fix=N_("Return a new gradient instead: the out-of-place form of {line}."),
        ways=(value_given, new_gradient),
    ),
    Row(
        "kept-gradient-added-to",
        "warning",
        added_to_what_was_kept,
        Calls(write="backward", origin="line"),
        message=N_(
            "{line} took a gradient without a copy, and the gradient then became `.grad`: {backward} added to it. "
            "{read} reads the sum where it expects the single one. PyTorch gives no error."
        ),
        fix=N_("Keep a copy: append `.clone()` to {code}."),
        badges=Badges(wrote=N_("adds to it here"), origin=N_("taken here")),
    ),
) + rules_of(
    Row(
        "bucket-left-behind",
        "warning",
        left_behind,
        nameless=N_("one tensor"),
        message=N_(
            "{taken} removes the gradients that were parts of {tensor}, so {filled} makes new ones elsewhere, "
            "and {read} uses {tensor} as if the gradients were still in it. PyTorch gives no error."
        ),
        fix=N_("Clear by `zero_grad(set_to_none=False)`, or copy the gradients into that tensor after backward."),
        badges=Badges(wrote=N_("takes them out of it here"), read=N_("uses what is no gradient here")),
    ),
    every_call=True,
)
