"""A network was moved along the gradient of another network's loss as well, which had gone through it.

``backward`` fills the gradient of every leaf that a loss goes through
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html). The loss of a generator goes through its
judge, and that of an actor through its critic: where the gradients of the judge are not cleared after that, its own
backward adds to them, and its step undoes what it learns.

Bad::

    judge(maker(noise)).mean().backward()           # fills the gradients of both
    opt_maker.step()
    loss_of(judge(real), judge(fake)).backward()
    opt_judge.step()                                # along the sum of both losses

Good::

    judge(maker(noise)).mean().backward()
    opt_maker.step()
    opt_judge.zero_grad()
    loss_of(judge(real), judge(fake)).backward()
    opt_judge.step()

The loss of the judge goes through the judge to the maker, too, unless what the maker made is detached, and leaves a
gradient there that is to be lowered where the maker's is to be raised::

    loss_of(judge(real), judge(maker(noise))).backward()        # fills those of the maker as well
    opt_judge.step()
    judge(maker(noise)).mean().backward()
    opt_maker.step()                                            # along the sum of both losses

Told from the record alone: a backward went through a leaf on its way to others, an optimizer moved those, a second
backward that reached none of them and nothing new added to the leaf's gradient, and an optimizer moved the leaf by the
sum. So it is where both backwards went through the others to the leaf, the others were moved by the first one, and by
the second one nobody moved them. Silent where the second backward reaches the others and they are moved by it, as when
gradients are accumulated, and where the leaf lies behind those that were moved and the second loss does not go through
them, as a body that two heads share.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from inplace_magic.analysis.gradients import GradientEvent, gradient_histories
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _, spelled
from inplace_magic.record.events import CallEvent
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, listing_of

CODE = "gradient-of-another-loss"


@dataclass(frozen=True)
class _Sum:
    """Two backwards that filled one gradient, and the steps that were made by it."""

    leaf: int
    first: GradientEvent
    moved: CallEvent
    """By the first of them."""
    other: int
    """A leaf that was moved so."""
    second: GradientEvent
    step: GradientEvent
    through: bool = False
    """Whether both losses went through the other leaf, a judge's, to this one."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each backward that added to such a gradient."""
    reached: dict[int, frozenset[int]] = {}
    seen = set()
    for leaf, events in gradient_histories(story):
        for first, second, step in _summed(events):
            if second.call.callsite in seen:
                continue
            seen_sum = _of_another(story, reached, leaf, first, second, step)
            if seen_sum is not None:
                seen.add(second.call.callsite)
                yield _hazard_of_a_judge(story, seen_sum) if seen_sum.through else _hazard(story, seen_sum)


def _summed(events: list[GradientEvent]) -> Iterator[tuple[GradientEvent, GradientEvent, GradientEvent]]:
    """(backward, next backward, step) with nothing that cleared the gradient, and no other step, between them."""
    added: list[GradientEvent] = []
    for event in events:
        if event.kind == "added":
            added.append(event)
        elif event.kind == "stepped":
            yield from ((first, second, event) for first, second in pairwise(added))
            added = []
        elif event.kind == "cleared":
            added = []


def _of_another(
    story: Story,
    reached: dict[int, frozenset[int]],
    leaf: int,
    first: GradientEvent,
    second: GradientEvent,
    step: GradientEvent,
) -> _Sum | None:
    one, two = (_leaves(story, reached, event.at) for event in (first, second))
    if one == two:
        return _of_a_judge(story, leaf, one, first, second, step)
    if not two < one:
        return None
    for other in sorted(one - two):
        moved = _moved_between(story, other, first.at, second.at)
        if moved is not None and _lies_behind(story, first.at, leaf, other):
            return _Sum(leaf, first, moved, other, second, step)
    return None


def _of_a_judge(
    story: Story, leaf: int, leaves: frozenset[int], first: GradientEvent, second: GradientEvent, step: GradientEvent
) -> _Sum | None:
    """Where both losses went through a judge to a leaf: the first one moved the judge, and what the second one left for
    the judge moved nobody."""
    for other in sorted(leaves - {leaf}):
        moved = _moved_between(story, other, first.at, second.at)
        if moved is None or not _lies_behind(story, first.at, other, leaf):
            continue
        if _moved_between(story, leaf, first.at, second.at) is not None:
            return None
        until = next((at for at in story.backwards_run if at > second.at), len(story.trace.calls))
        if _moved_between(story, other, second.at, until) is None and step.at < until:
            return _Sum(leaf, first, moved, other, second, step, through=True)
    return None


def _leaves(story: Story, reached: dict[int, frozenset[int]], backward: int) -> frozenset[int]:
    """The leaves that a backward reached."""
    if backward not in reached:
        found = (story.nodes[node].variable for node in story.executed.get(backward, ()))
        reached[backward] = frozenset(leaf for leaf in found if leaf is not None)
    return reached[backward]


def _moved_between(story: Story, leaf: int, since: int, until: int) -> CallEvent | None:
    """The call by which an optimizer moved a leaf between two others."""
    calls = (call for call in story.given_between(leaf, since, until) if call.callsite in story.stepping)
    return next((call for call in calls if any(write.tensor == leaf for write in call.mutations)), None)


def _lies_behind(story: Story, backward: int, leaf: int, other: int) -> bool:
    """Whether a backward came to another leaf by way of what a leaf went into, and not the other way round."""
    ran = story.executed.get(backward, set())
    before, behind = (
        {n for n in ran if story.nodes[n].variable == one and story.nodes[n].does("accumulates")}
        for one in (leaf, other)
    )
    return bool(story.reached(_users(story, before, ran)) & behind) and not (
        story.reached(_users(story, behind, ran)) & before
    )


def _users(story: Story, nodes: set[int], ran: set[int]) -> set[int]:
    return {user for node in nodes for user in story.users.get(node, ()) if user in ran}


def _hazard(story: Story, found: _Sum) -> Hazard:
    name, other = (story.bindings.name(leaf) for leaf in (found.leaf, found.other))
    site = found.second.call.callsite
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{second} adds to {gradient}, where {first} has left the gradient of another loss: that one went through "
            "{leaf} to {other}, which {moved} moved by it. {step} goes along the sum of both. PyTorch gives no error."
        ).format(
            second=wording.spot(site),
            gradient=f"`{name}.grad`" if name else _("the gradients"),
            first=wording.spot(found.first.call.callsite),
            leaf=f"`{name}`" if name else _("a parameter"),
            other=f"`{other}`" if other else _("other parameters"),
            moved=wording.line_of(found.moved.callsite),
            step=wording.spot(found.step.call.callsite),
        ),
        fix=_("Clear the gradients right before the backward that the step shall follow: `optimizer.zero_grad()`."),
        variable=f"{name}.grad" if name else None,
        mutation=site,
        mutations=tuple(place for place in (found.first.call.callsite, site) if place is not None),
        origin=found.first.call.callsite,
        read=found.step.call.callsite,
        read_call=found.step.at,
        call=found.second.at,
        badges=Badges(wrote=_("adds to it here"), read=_("steps by the sum here"), origin=_("left here")),
    )


def _hazard_of_a_judge(story: Story, found: _Sum) -> Hazard:
    name, other = (story.bindings.name(leaf) for leaf in (found.leaf, found.other))
    site = found.first.call.callsite
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{first} was to move {other}, which {moved} did, and its loss went through {other} to {leaf} as well: what "
            "it left in {gradient} is still there when {second} adds to it, and {step} goes along the sum of both. "
            "PyTorch gives no error."
        ).format(
            first=wording.spot(site),
            other=f"`{other}`" if other else _("other parameters"),
            moved=wording.line_of(found.moved.callsite),
            leaf=f"`{name}`" if name else _("a parameter"),
            gradient=f"`{name}.grad`" if name else _("the gradients"),
            second=wording.line_of(found.second.call.callsite),
            step=wording.spot(found.step.call.callsite),
        ),
        fix=_(
            "Cut the way off where only the judge learns (`judge(fake.detach())`), or clear the gradients right before "
            "the backward that the step shall follow."
        ),
        variable=f"{name}.grad" if name else None,
        mutation=site,
        mutations=tuple(place for place in (site, found.second.call.callsite) if place is not None),
        read=found.step.call.callsite,
        read_call=found.step.at,
        call=found.first.at,
        badges=Badges(wrote=_("fills it here"), read=_("steps by the sum here")),
    )


def cleared_before_the_backward(write: Written) -> Fix | None:
    """``opt.zero_grad()`` above ``loss.backward()``, where ``opt.step()`` follows in the same block: a step that is
    made now and then is to have the gradients of all backwards since the last one."""
    added, step = write.hazard.mutations[-1], write.hazard.read
    listing = listing_of(write.story.trace, added)
    if listing is None or step is None or step.direct or not added.same_run(step):
        return None  # only a library's own step is known to have the method beside it
    backward, stepping = listing.statement_at(added), listing.statement_at(step)
    if backward is None or not isinstance(stepping, ast.Expr) or stepping not in listing.block_of(backward):
        return None
    method = stepping.value.func if isinstance(stepping.value, ast.Call) else None
    owner = expressions.path_text(method.value) if isinstance(method, ast.Attribute) else None
    if owner is None or not _is_bound_before(listing, owner, backward, stepping):
        return None
    edit = listing.replace(backward, f"{owner}.{spelled('zero_grad()')}", listing.text(backward))
    return Fix(added, listing, (edit,)) if edit is not None else None


def _is_bound_before(listing: Listing, path: str, first: ast.stmt, last: ast.stmt) -> bool:
    """Whether a path means at one statement what it means at a later one."""
    root = path.split(".")[0].split("[")[0]
    between = range(first.lineno, last.lineno + 1)
    return first.lineno < last.lineno and not any(node.lineno in between for node in listing.stores.get(root, ()))


RULE = Rule(check, {CODE: Cures((cleared_before_the_backward,))})
