"""Bad sequences in the events of one gradient, searched for by their letters (:mod:`inplace_magic.analysis.gradients`).

``(?P<step>s)[^acms]*(?P<backward>a)[^cms]*(?P<next>s)`` finds a gradient that was used by two steps with a backward,
and no clearing, between them. Each named group is one event; a guard says whether the match is a finding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

from inplace_magic.analysis.gradients import GradientEvent, History
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.gradients.cures import cleared_after_the_step, cleared_before_the_backward
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

Match = Mapping[str, GradientEvent]
"""The events of a match by the names of its groups."""

_EDITS = re.compile(r"(?=(?P<line>[xem])(?P<rest>[^acds]*)(?P<end>[cd]?)(?P<used>[as]?))")
_SHIFTS = re.compile(r"(?P<line>e)(?P<rest>[qrsv]+)")
_PASSES = 8
"""Passes of a loop that are looked at, where the first ones are no finding."""
_LONGEST = 100
"""Calls of a step that are looked at."""


def as_found(_story: Story, history: History, match: Match) -> Found | None:
    """Return the match as it is."""
    return Found({name: event.call for name, event in match.items()}, leaf=history.leaf)


def of_one_line(story: Story, history: History, match: Match) -> Found | None:
    """Return the match where one line reads the gradient of a leaf that nobody moves."""
    one_line = match["step"].call.callsite == match["next"].call.callsite
    return as_found(story, history, match) if one_line and "s" not in history.letters else None


def of_new_numbers(story: Story, history: History, match: Match) -> Found | None:
    """Return the match where the line changed the numbers."""
    return as_found(story, history, match) if _changes(match["line"].call) else None


def of_another_loss(story: Story, history: History, match: Match) -> Found | None:
    """Return the match where the first backward went through the leaf to others, which were moved by it, and the second
    backward reached none of them: a generator's loss goes through its judge, and leaves a gradient in the judge."""
    leaf, one, two = history.leaf, *(story.gradients.leaves_of(match[name].at) for name in ("first", "second"))
    for other in sorted(one - two) if leaf is not None and two < one else ():
        moved = _stepped(story, other, match["first"].at, match["second"].at)
        if leaf is not None and moved is not None and _lies_behind(story, match["first"].at, leaf, other):
            return _of_both(story, leaf, match, moved, other)
    return None


def through_a_judge(story: Story, history: History, match: Match) -> Found | None:
    """Return the match where both losses went through another leaf to this one: the first moved the other leaf, and
    what the second left there moved nobody."""
    leaf, first, second, step = history.leaf, *(match[name].at for name in ("first", "second", "step"))
    leaves = story.gradients.leaves_of(first)
    if leaf is None or leaves != story.gradients.leaves_of(second):
        return None
    for other in sorted(leaves - {leaf}):
        moved = _stepped(story, other, first, second)
        if moved is not None and _lies_behind(story, first, other, leaf):
            if _stepped(story, leaf, first, second) is not None:
                return None
            until = next((at for at in story.backwards_run if at > second), len(story.trace.calls))
            if _stepped(story, other, second, until) is None and step < until:
                return _of_both(story, leaf, match, moved, other)
    return None


def _of_both(story: Story, leaf: int, match: Match, moved: CallEvent, other: int) -> Found:
    names = (story.bindings.name(each) for each in (leaf, other))
    one, two = (f"`{name}`" if name else None for name in names)
    words = {"leaf": one or _("a parameter"), "other": two or _("other parameters")}
    return Found({**{name: event.call for name, event in match.items()}, "moved": moved}, words=words, leaf=leaf)


def _stepped(story: Story, leaf: int, since: int, until: int) -> CallEvent | None:
    """Return the call by which an optimizer moved a leaf between two others."""
    calls = (call for call in story.given_between(leaf, since, until) if call.callsite in story.stepping)
    return next((call for call in calls if any(write.tensor == leaf for write in call.mutations)), None)


def _lies_behind(story: Story, backward: int, leaf: int, other: int) -> bool:
    """True if a backward came to another leaf by way of what a leaf went into, and not the other way round."""
    ran = story.went_through(backward)
    ends = {number for number in ran if story.nodes[number].does("accumulates")}
    before, behind = ({number for number in ends if story.nodes[number].variable == one} for one in (leaf, other))
    first, second = (story.reached(_users(story, nodes, ran)) for nodes in (before, behind))
    return not first.isdisjoint(behind) and second.isdisjoint(before)


def _users(story: Story, nodes: set[int], ran: set[int]) -> set[int]:
    return {user for node in nodes for user in story.users.get(node, ()) if user in ran}


def sequence(
    pattern: str, guard: Callable[[Story, History, Match], Found | None] = as_found
) -> Callable[[Story], Iterable[Found]]:
    """Return a search for a pattern, which may begin at each event of a gradient."""
    ahead = re.compile(f"(?={pattern})")

    def search(story: Story) -> Iterator[Found]:
        tried = Counter[Hashable]()
        for history in story.gradients.histories:
            for match in ahead.finditer(history.letters):
                named = {name: history.events[match.start(name)] for name in ahead.groupindex}
                lines = history.leaf, *(event.call.callsite for event in named.values())
                tried[lines] += 1
                found = guard(story, history, named) if tried[lines] <= _PASSES else None
                if found is not None:
                    yield found

    return search


def edited_late(story: Story) -> Iterator[Found]:
    """Yield the lines that edit gradients after the step, and before they are cleared unread. One edit of a line that
    serves somebody clears the line of all."""
    late: dict[Callsite, Found] = {}
    served: set[Callsite | None] = set()
    for history in story.gradients.histories:
        for match in _EDITS.finditer(history.letters):
            edit = history.events[match.start()]
            site, place = edit.call.callsite, match.start()
            before = max(history.letters.rfind(letter, 0, place) for letter in "as")
            rest = history.events[place + 1 : match.end("rest")]
            others = any(event.letter != "v" and event.call.callsite != site for event in rest)
            if site is None or edit.call.parent is not None:
                continue
            if before < 0 or history.letters[before] == "a" or (match["used"] and not match["end"]) or others:
                served.add(site)
            elif match["end"] and _changes(edit.call):
                calls = {"line": edit.call, "step": history.events[before].call}
                late.setdefault(site, Found(calls, edit.call.mutations[0].tensor, leaf=_only_moved(calls["step"])))
    for site, found in late.items():
        if site not in served and (site.direct or site.expression == site.statement):
            yield found


def edited_by_step(story: Story) -> Iterator[Found]:
    """Yield the lines of a step by which a gradient is added to, where a line outside reads the gradient afterwards."""
    for history in story.gradients.histories:
        for match in _SHIFTS.finditer(history.letters):
            edit = history.events[match.start()].call
            site = edit.callsite
            in_a_function = site is not None and site.direct and site.caller is not None
            if site is None or not in_a_function or len(edit.inputs) < 2 or not edit.does("shifts"):
                continue
            moved = _moves_a_leaf(story, edit, site)
            rest = history.events[match.start("rest") : match.end()] if moved is not None else ()
            read = next((event.call for event in rest if event.at > (moved or 0) and _reads(event, site)), None)
            if read is not None:
                tensor = edit.mutations[0].tensor
                name = story.bindings.written_name(edit, tensor)
                yield Found({"write": edit, "read": read}, tensor, name, leaf=history.leaf)


def _reads(event: GradientEvent, step: Callsite) -> bool:
    """True if a line of the user's outside a step's function reads a gradient for its values."""
    place = event.call.callsite
    outside = place is not None and place.direct and not place.is_below_function(step)
    return event.letter in "rv" and outside and not event.call.does("compares")


def _moves_a_leaf(story: Story, edit: CallEvent, site: Callsite) -> int | None:
    """Return the index of the call in the same run of a function that moved a leaf after an edit."""
    for index in range(edit.index + 1, edit.index + _LONGEST):
        later = story.calls.get(index)
        if later is None or later.callsite is None:
            return None
        if site.same_run(later.callsite) and any(meta.is_trainable for meta in later.mutated):
            return later.index
    return None


def _only_moved(step: CallEvent) -> int | None:
    """Return the leaf that a call moved; None of several."""
    moved = [meta.tensor for meta in step.mutated if meta.is_trainable]
    return moved[0] if len(moved) == 1 else None


def _changes(call: CallEvent) -> bool:
    """True if a write changed numbers, as far as is known: clipping multiplies by 1 where it need not."""
    return not all(write.changed_nothing for write in call.mutations)


RULES = rules_of(
    Row(
        "gradient-not-cleared",
        "warning",
        sequence("(?P<step>s)[^acms]*(?P<backward>a)[^cms]*(?P<next>s)"),
        Calls(write="backward", read="next", origin="step"),
        message=N_(
            "{backward} adds to {gradient}, which nothing cleared after {step} used it, so {next} uses the sum "
            "of the gradients of several steps. PyTorch gives no error."
        ),
        fix=N_(
            "Clear {gradient} between two steps: by the optimizer that holds its parameter (`optimizer.zero_grad()`), "
            "or by `model.zero_grad()`."
        ),
        ways=(cleared_after_the_step,),
        badges=Badges(wrote=N_("adds to it here"), read=N_("uses the sum here"), origin=N_("used here")),
    ),
    Row(
        "gradient-not-cleared",
        "warning",
        sequence("(?P<step>r)[^acm]*(?P<backward>a)[^cmr]*(?P<next>r)", of_one_line),
        Calls(write="backward", read="next", origin="step"),
        message=N_(
            "{backward} adds to {gradient}, which nothing cleared after {step} read it, so {step} reads the sum "
            "of several gradients the next time. PyTorch gives no error."
        ),
        fix=N_("Ask for the gradient itself, which adds to nothing: `torch.autograd.grad(output, input)`."),
        badges=Badges(wrote=N_("adds to it here"), read=N_("uses the sum here"), origin=N_("used here")),
    ),
    Row(
        "gradient-of-another-loss",
        "warning",
        sequence("(?P<first>a)[^acms]*(?P<second>a)[^cms]*(?P<step>s)", of_another_loss),
        Calls(write="second", also="first", read="step", origin="first"),
        message=N_(
            "{second} adds to {gradient}, where {first} left the gradient of another loss: that loss went through "
            "{leaf} to {other}, which {moved} then moved. {step} uses the sum of both. PyTorch gives no error."
        ),
        fix=N_("Clear the gradients right before the backward that the step is to follow: `optimizer.zero_grad()`."),
        ways=(cleared_before_the_backward,),
        badges=Badges(wrote=N_("adds to it here"), read=N_("uses the sum here"), origin=N_("left here")),
    ),
    Row(
        "gradient-of-another-loss",
        "warning",
        sequence("(?P<first>a)[^acms]*(?P<second>a)[^cms]*(?P<step>s)", through_a_judge),
        Calls(write="first", also="second", read="step"),
        message=N_(
            "{first} was for {moved}, which moved {other}, but its loss also went through {other} to {leaf}: "
            "its gradient is still in {gradient} when {second} adds to it, so {step} uses the sum of both. "
            "PyTorch gives no error."
        ),
        fix=N_(
            "Detach the input where only the judge learns (`judge(fake.detach())`), or clear the gradients "
            "right before the backward that the step is to follow."
        ),
        badges=Badges(wrote=N_("fills it here"), read=N_("uses the sum here")),
    ),
    Row(
        "gradient-scaled-early",
        "silent",
        sequence("a[^acmsx]*(?P<line>x)[^acms]*(?P<backward>a)[^cms]*s", of_new_numbers),
        Calls(read="backward"),
        message=N_(
            "{line} scales {gradient} before its sum is complete: {backward} adds to it afterwards, so the "
            "gradients of the backwards are scaled differently. PyTorch gives no error."
        ),
        fix=N_(
            "Scale the loss of each part before its backward (`(loss / n).backward()`), or scale and clip once, below "
            "the last backward and above the step."
        ),
        badges=Badges(wrote=N_("scaled here"), read=N_("adds to it here")),
    ),
    Row(
        "gradient-edited-late",
        "warning",
        edited_late,
        Calls(origin="step"),
        message=N_(
            "{line} changes {gradient} after {step} has used it, and a clearing follows before anything reads "
            "it: the change has no effect. PyTorch gives no error."
        ),
        fix=N_("Change the gradients between the last `backward` and the step."),
    ),
    Row(
        "gradient-edited-by-step",
        "warning",
        edited_by_step,
        message=N_(
            "{write} added to {gradient} for its step before {read} reads it: the values are no longer those "
            "that backward left. PyTorch gives no error."
        ),
        fix=N_("Make the direction of the step a tensor of its own: `direction = p.grad.add(…)`, or `p.grad.clone()`."),
    ),
    every_call=True,
)
