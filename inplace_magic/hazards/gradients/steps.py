"""Steps that moved nothing, or what was frozen, or that went by an old gradient."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.gradients.cures import history_kept
from inplace_magic.hazards.gradients.unarrived import cuts
from inplace_magic.hazards.rule import Calls, Event, Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.autograd import IdleStep, Registration
from inplace_magic.record.events import CallEvent


def cleared(story: Story) -> Iterator[Found]:
    """Yield the lines that cleared gradients between backward and a step."""
    for step, backward, filled in _idle(story):
        held = filled.intersection(step.held)
        given = (call for leaf in sorted(held) for call in story.given_to.get(leaf, ()))
        clears = (call for call in given if call.does("sets gradient") and backward.index < call.index < step.call)
        clear = next(clears, None)
        if clear is not None:
            yield _found(story, held, step, backward, clear=clear)


def cut_off(story: Story) -> Iterator[Found]:
    """Yield the lines that made a new leaf of a result with a history, where backward ended at that leaf."""
    for step, backward, filled in _idle(story):
        cut = _cut(story, filled, step.held)
        if cut is not None:
            yield _found(story, filled, step, backward, cut=cut)


def unarrived_at_all(story: Story) -> Iterator[Found]:
    """Yield the lines that cut off what was computed from all that a step could move."""
    for step, backward, filled in _idle(story):
        found = story.once(cuts).get(step.callsite)
        if found is not None and _cut(story, filled, step.held) is None:
            both = _found(story, filled, step, backward)
            yield replace(both, calls={**found.calls, **both.calls}, words={**found.words, **both.words})


def of_others(story: Story) -> Iterator[Found]:
    """Yield the steps before which backward filled the gradients of other tensors, for a reason that is not known."""
    for step, backward, filled in _idle(story):
        known = step.callsite in story.once(cuts) or _cut(story, filled, step.held) is not None
        if filled.isdisjoint(step.held) and not known:
            yield _found(story, filled, step, backward)


def _idle(story: Story) -> Iterator[tuple[IdleStep, CallEvent, set[int]]]:
    """Yield each step without gradients, the last backward before it, and the leaves which that filled: nobody moved
    them afterwards, or those of them that this optimizer holds."""
    for step in story.trace.idle_steps:
        ran = [at for at in story.backwards_run if at < step.call and story.backwards[at].inputs is None]
        if step.callsite is None or not ran or step.moved:
            continue
        filled = set(story.gradients.leaves_of(max(ran)))
        waiting = filled.intersection(step.held) or {*filled, *step.held}
        if filled and not any(_is_written(story, leaf, max(ran)) for leaf in waiting):
            yield step, story.calls[max(ran)], filled


def _is_written(story: Story, leaf: int, after: int) -> bool:
    meta = story.observations.get(leaf)
    return story.is_written_between(meta.storage if meta is not None else None, after)


def _cut(story: Story, filled: set[int], held: Sequence[int]) -> Registration | CallEvent | None:
    """Return what made the first of these leaves that has a history; None where the optimizer holds one of them."""
    made = (_cut_of(story, leaf, held) for leaf in sorted(filled)) if filled.isdisjoint(held) else ()
    return next((cut for cut in made if cut is not None), None)


def _cut_of(story: Story, leaf: int, held: Sequence[int]) -> Registration | CallEvent | None:
    """Return what made a leaf in the memory of a result that was computed from what the optimizer holds: the parameter
    that a module was given, else the last call that made the result, where that gave it no name."""
    meta, first = story.observations.get(leaf), story.first_seen(leaf)
    if meta is None or meta.storage is None:
        return None
    older = [each for each in story.bindings.by_storage.get(meta.storage, ()) if each != leaf]
    nodes = [node for other in older if (node := story.observations[other].node) is not None]
    behind = {story.nodes[number].variable for number in story.reached(nodes)}
    if behind.isdisjoint(held):
        return None
    given = (entry for entry in reversed(story.trace.registrations) if entry.storage == meta.storage)
    parameter = next((entry for entry in given if entry.call <= first and entry.callsite is not None), None)
    made = [call for other in older if (call := story.innermost_new(other, first)) is not None]
    last = max(made, key=lambda call: call.index, default=None)
    if parameter is not None or last is None or last.callsite is None or last.callsite.targets:
        return parameter
    return last if all(output.node is not None for output in last.outputs) else None


def _found(story: Story, leaves: set[int], step: IdleStep, backward: CallEvent, **more: Event) -> Found:
    names = sorted(name for leaf in leaves if (name := story.bindings.name(leaf)) is not None)
    words = {"optimizer": step.optimizer, "named": wording.some_of(names, len(leaves), _("parameters"))}
    return Found({"step": step, "backward": backward, **more}, min(leaves), names[0] if names else None, words)


def of_the_frozen(story: Story) -> Iterator[Found]:
    """Yield the library's lines that move a leaf which they trained until somebody froze it."""
    trained: set[tuple[str, int]] = set()
    for call in story.in_place:
        if call.callsite is None or call.callsite.direct or call.does("overwrites"):
            continue
        for meta in call.mutated:
            if meta.is_trainable:
                trained.add((call.name, meta.tensor))
            elif (call.name, meta.tensor) in trained and meta.is_leaf:
                yield Found({"line": call}, meta.tensor, story.bindings.name(meta.tensor))


def by_an_old_gradient(story: Story) -> Iterator[Found]:
    """Yield the steps by a gradient that the same line had used before, where the backward in between filled others."""
    given = Counter(meta.storage for index in story.stepping_calls for meta in story.calls[index].inputs)
    for storage, times in given.items():
        maker = story.maker_of_storage(storage)
        if storage is None or times < 2 or maker is None or maker.index not in story.backwards:
            continue
        events = [event for event in story.gradients.of(storage).events if event.letter in "acemsx"]
        for first, second in pairwise(events):
            ran = bisect_left(story.backwards_run, second.at) - 1
            between = ran >= 0 and story.backwards_run[ran] > first.at
            if first.letter == second.letter == "s" and between and first.call.callsite == second.call.callsite:
                yield Found({"step": second.call, "backward": story.calls[story.backwards_run[ran]]})


RULES = rules_of(
    Row(
        "step-without-gradients",
        "silent",
        cleared,
        Calls(write="clear", read="step", origin="backward"),
        message=N_(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {backward} filled the "
            "gradients ({named}), and they were cleared before the step. PyTorch gives no error."
        ),
        fix=N_("Clear the gradients before `backward` or after the step, not between the two."),
        ways=(history_kept,),
        badges=Badges(wrote=N_("cleared here"), read=N_("moves nothing here"), origin=N_("filled here")),
    ),
    Row(
        "step-without-gradients",
        "silent",
        cut_off,
        Calls(write="cut", read="step", origin="backward"),
        message=N_(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {cut} makes a new leaf of a "
            "computed tensor, without its history, so {backward} reached that leaf and nothing before it. "
            "PyTorch gives no error."
        ),
        fix=N_("Keep the computed tensor as it is: no `nn.Parameter`, `detach()` or `.data` around it."),
        badges=Badges(wrote=N_("cut off here"), read=N_("moves nothing here"), origin=N_("ends at the new leaf here")),
    ),
    Row(
        "step-without-gradients",
        "silent",
        unarrived_at_all,
        Calls(write="cut", read="step", origin="backward"),
        message=N_(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. In {cut}, {code} {how}, so "
            "{backward} filled the gradients of other tensors ({named}) and went no further back. PyTorch gives no "
            "error."
        ),
        fix=N_("{cure}"),
        badges=Badges(wrote=N_("cut off here"), read=N_("moves nothing here"), origin=N_("fills others here")),
    ),
    Row(
        "step-without-gradients",
        "silent",
        of_others,
        Calls(write="step", origin="backward"),
        message=N_(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {backward} filled the "
            "gradients of other tensors ({named}), which nothing moves. PyTorch gives no error."
        ),
        fix=N_(
            "If the loss is computed from these parameters, remove what detaches the loss, such as `detach()` or "
            "`no_grad`. If the model has new ones, make the optimizer after them, or give them to it."
        ),
        badges=Badges(wrote=N_("moves nothing here"), origin=N_("filled here")),
    ),
    Row(
        "gradient-not-renewed",
        "warning",
        by_an_old_gradient,
        Calls(write="step", origin="backward"),
        message=N_(
            "{step} uses the same gradient as before: {backward} ran in between and did not write it, but "
            "filled the `.grad` of other tensors. PyTorch gives no error."
        ),
        fix=N_(
            "Assign the new gradients before each step (`shared.grad = local.grad`), or let backward fill the "
            "gradients of the tensors that the optimizer moves."
        ),
        badges=Badges(wrote=N_("uses the older gradient here"), origin=N_("fills others here")),
    ),
    every_call=True,
) + rules_of(
    Row(
        "frozen-but-moved",
        "warning",
        of_the_frozen,
        nameless=N_("a frozen parameter"),
        message=N_(
            "{line} moves {tensor}, which no longer requires a gradient: the optimizer still holds {tensor}, "
            "with the gradient or the momentum of earlier steps. PyTorch gives no error."
        ),
        fix=N_(
            "Drop the gradients of the frozen parameters (`p.grad = None`, `zero_grad(set_to_none=True)`), or "
            "give the optimizer only the trained ones."
        ),
    ),
)
