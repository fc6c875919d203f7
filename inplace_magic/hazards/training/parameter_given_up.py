"""A module got other parameters after the optimizer was made: it holds those that were given up, and nobody moves the
new ones.

An optimizer keeps the tensors that it was made with (https://docs.pytorch.org/docs/stable/optim.html), and a new head
brings tensors that it does not know. The rest of the network is trained, the loss falls, and the new part stays as it
was made.

Bad::

    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net.head = nn.Linear(8, 2)              # the optimizer holds the old one
    net(x).sum().backward()
    opt.step()

Good::

    net.head = nn.Linear(8, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net(x).sum().backward()
    opt.step()

Told from the record alone: a module was given a child, or a parameter, in the place of another one; an optimizer that
holds the old one stepped after that, and after a backward had filled the gradient of the new one; no optimizer that
was seen holds the new one, no backward fills the old one any more, and nobody writes the new one. Silent for a new
part that is frozen, that another optimizer has or that was handed over by ``add_param_group``. Where the optimizer
moves nothing at all see `step-without-gradients`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.places import Callsite
from inplace_magic.record.training import Stepping

CODE = "parameter-given-up"


@dataclass(frozen=True)
class _Given:
    """What a statement took away from a module, and what it gave it instead."""

    call: int
    site: Callsite | None
    name: str
    old: tuple[int, ...]
    new: tuple[int, ...]


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each statement."""
    steppings = story.trace.steppings
    held = {tensor for stepping in steppings for tensor in stepping.held}
    idle = {step.callsite for step in story.trace.idle_steps}
    told: set[Callsite | None] = set()
    for given in _given(story) if steppings else ():
        new = [tensor for tensor in given.new if tensor not in held]
        filled = [(at, tensor) for tensor in new for at in story.came_to_leaf(tensor) if at >= given.call]
        if given.site in told or not filled or len(new) < len(given.new):
            continue
        if any(at >= given.call for tensor in given.old for at in story.came_to_leaf(tensor)):
            continue
        if any(write.at >= given.call for tensor in given.new for write in _writes(story, tensor)):
            continue
        at, tensor = min(filled)
        step = next((s for s in steppings if s.call > at and set(given.old) & set(s.held)), None)
        if step is not None and step.callsite not in idle:
            told.add(given.site)
            yield _hazard(story, given, step, at, tensor)


def _given(story: Story) -> Iterator[_Given]:
    for entry in story.trace.replacements:
        yield _Given(entry.call, entry.callsite, entry.name, entry.given_up, entry.taken)
    for each in story.trace.registrations:
        if each.replaced is not None and each.tensor is not None and not each.shared:
            yield _Given(each.call, each.callsite, each.name, (each.replaced,), (each.tensor,))


def _writes(story: Story, tensor: int) -> list[Write]:
    meta = story.observations.get(tensor)
    first = story.first_seen(tensor)
    writes = story.writes_to_memory(meta.storage) if meta is not None and meta.storage is not None else ()
    return [write for write in writes if write.at >= first and write.call is not None]


def _hazard(story: Story, given: _Given, step: Stepping, backward: int, tensor: int) -> Hazard:
    name = story.bindings.name(tensor) or given.name
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{line} gave a module another `{name}` when the {optimizer} had been made: {step} goes on moving the "
            "parameters that it was made with, and nobody moves `{new}`, though {backward} fills its gradient. PyTorch "
            "gives no error."
        ).format(
            line=wording.spot(given.site),
            name=given.name,
            optimizer=step.cls,
            step=wording.spot(step.callsite),
            new=name,
            backward=wording.spot(story.calls[backward].callsite),
        ),
        fix=_("Make the optimizer after that, or hand it the new parameters: `optimizer.add_param_group`."),
        variable=name,
        mutation=given.site or step.callsite,
        read=step.callsite,
        origin=story.calls[backward].callsite,
        tensor=tensor,
        badges=Badges(wrote=_("replaced here"), read=_("moves the old one here"), origin=_("fills the new one here")),
    )


RULE = Rule(check)
