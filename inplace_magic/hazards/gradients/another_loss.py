"""Sums of the gradients of two losses, by which a leaf is moved that one of them only went through.

Of a generator and its judge: the generator's loss goes through the judge to the generator, and leaves a gradient in the
judge. The judge's own backward adds to that unless somebody clears it.
"""

from __future__ import annotations

from inplace_magic.analysis.gradients import History
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.gradients.cures import cleared_before_the_backward
from inplace_magic.hazards.gradients.sequences import Match, sequence
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent


def on_the_way(story: Story, history: History, match: Match) -> Found | None:
    """Return the match where the first backward went through the leaf to others, which were moved by it, and the second
    backward reached none of them."""
    leaf, one, two = history.leaf, *(story.gradients.leaves_of(match[name].at) for name in ("first", "second"))
    if leaf is None or not two < one:
        return None
    for other in sorted(one - two):
        moved = _stepped(story, other, match["first"].at, match["second"].at)
        if moved is not None and _lies_behind(story, match["first"].at, leaf, other):
            return _found(story, history, match, moved, other)
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
        if moved is None or not _lies_behind(story, first, other, leaf):
            continue
        if _stepped(story, leaf, first, second) is not None:
            return None
        until = next((at for at in story.backwards_run if at > second), len(story.trace.calls))
        if _stepped(story, other, second, until) is None and step < until:
            return _found(story, history, match, moved, other)
    return None


def _found(story: Story, history: History, match: Match, moved: CallEvent, other: int) -> Found:
    calls = {**{name: event.call for name, event in match.items()}, "moved": moved}
    leaf, name = (story.bindings.name(each) if each is not None else None for each in (history.leaf, other))
    words = {
        "leaf": f"`{leaf}`" if leaf else _("a parameter"),
        "other": f"`{name}`" if name else _("other parameters"),
    }
    return Found(calls, words=words, leaf=history.leaf)


def _stepped(story: Story, leaf: int, since: int, until: int) -> CallEvent | None:
    """Return the call by which an optimizer moved a leaf between two others."""
    calls = (call for call in story.given_between(leaf, since, until) if call.callsite in story.stepping)
    return next((call for call in calls if any(write.tensor == leaf for write in call.mutations)), None)


def _lies_behind(story: Story, backward: int, leaf: int, other: int) -> bool:
    """True if a backward came to another leaf by way of what a leaf went into, and not the other way round."""
    ran = story.went_through(backward)
    before, behind = (
        {n for n in ran if story.nodes[n].variable == one and story.nodes[n].does("accumulates")}
        for one in (leaf, other)
    )
    return bool(story.reached(_users(story, before, ran)) & behind) and not (
        story.reached(_users(story, behind, ran)) & before
    )


def _users(story: Story, nodes: set[int], ran: set[int]) -> set[int]:
    return {user for node in nodes for user in story.users.get(node, ()) if user in ran}


RULES = rules_of(
    Row(
        "gradient-of-another-loss",
        "warning",
        sequence("(?P<first>a)[^acms]*(?P<second>a)[^cms]*(?P<step>s)", on_the_way),
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
    every_call=True,
)
