"""An optimizer stepped and moved nothing: no parameter that it holds had a gradient, though backward had run.

An optimizer keeps the tensors that it was made with
(https://docs.pytorch.org/docs/stable/optim.html). Layers that are replaced afterwards, as by pruning or by
``load_state_dict(…, assign=True)``, bring parameters that it does not know; a gradient that is cleared between
``backward`` and ``step`` is no gradient; and ``nn.Parameter(x)`` takes the memory of `x` and none of its history
(https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html), so weights that another network
makes have to be read as they are.

Bad::

    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model.load_state_dict(checkpoint, assign=True)      # other parameters from here on
    model(x).sum().backward()
    opt.step()

    (w * w).sum().backward()
    sgd.zero_grad()
    sgd.step()

    layer.weight = nn.Parameter(maker(code))            # a leaf: its gradient goes no further
    layer(x).sum().backward()
    optimizer_of_the_maker.step()

Good::

    model.load_state_dict(checkpoint, assign=True)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model(x).sum().backward()
    opt.step()

    sgd.zero_grad()
    (w * w).sum().backward()
    sgd.step()

    F.linear(x, maker(code)).sum().backward()
    optimizer_of_the_maker.step()

Told from the record alone: a step found no gradient on any parameter; a backward before it had filled gradients of
leaves; and nothing in the watch wrote one of those leaves after that, or of those among them that this very optimizer
holds. Where one of those leaves lies in the memory of a result that was computed from what this optimizer holds, the
line that made it a leaf is named. Silent for a step with a closure, and where another optimizer, or a line of your own,
moves what backward filled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.autograd import IdleStep
from inplace_magic.record.places import Callsite

CODE = "step-without-gradients"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that steps so."""
    seen = set()
    for step in story.trace.idle_steps:
        ran = [at for at in story.executed if at < step.call and story.backwards[at].inputs is None]
        if step.callsite is None or step.callsite in seen or not ran:
            continue
        backward = max(ran)
        reached = (story.nodes[number].variable for number in story.executed[backward])
        filled = {leaf for leaf in reached if leaf is not None}
        cleared = filled.intersection(step.held)
        if filled and not any(_is_moved(story, leaf, backward) for leaf in cleared or (*filled, *step.held)):
            seen.add(step.callsite)
            at = _cleared_at(story, cleared, backward, step.call)
            cut = None if cleared else _cut_at(story, filled, step.held)
            yield _cut_off(story, step, backward, filled, cut) if cut else _hazard(story, step, backward, filled, at)


def _is_moved(story: Story, leaf: int, after: int) -> bool:
    """Whether anybody writes a leaf after a backward."""
    meta = story.observations.get(leaf)
    writes = story.writes_to_memory(meta.storage) if meta is not None and meta.storage is not None else ()
    return any(write.at > after for write in writes)


def _cleared_at(story: Story, leaves: set[int], since: int, until: int) -> Callsite | None:
    """The line that took the gradients away; None where that was not seen."""
    calls = [call for leaf in leaves for call in story.given_to.get(leaf, ()) if since < call.index < until]
    return next((call.callsite for call in calls if call.does("sets gradient")), None)


def _cut_at(story: Story, leaves: set[int], held: Sequence[int]) -> Callsite | None:
    """The first statement that made one of these leaves of a result whose history leads to what the optimizer holds;
    None where that was not seen."""
    for leaf in sorted(leaves):
        meta = story.observations.get(leaf)
        older = story.bindings.by_storage.get(meta.storage, ()) if meta is not None and meta.storage is not None else ()
        nodes = [node for other in older if other != leaf and (node := story.observations[other].node) is not None]
        behind = (story.nodes[number].variable for number in story.reached(nodes))
        if not nodes or {leaf for leaf in behind if leaf is not None}.isdisjoint(held):
            continue
        place = _given_to_a_module(story, leaf) or _cut_of(story, leaf)
        if place is not None:
            return place
    return None


def _given_to_a_module(story: Story, leaf: int) -> Callsite | None:
    """The statement that gave a module the parameter."""
    meta, first = story.observations[leaf], story.first_seen(leaf)
    entries = (entry for entry in reversed(story.trace.registrations) if entry.storage == meta.storage)
    return next((entry.callsite for entry in entries if entry.call <= first), None)


def _cut_of(story: Story, leaf: int) -> Callsite | None:
    """The statement that made a leaf of a result with a history, as ``nn.Parameter(head(x))`` does; None where its last
    call gave that result a name, so that another one may have cut it."""
    meta, first = story.observations.get(leaf), story.first_seen(leaf)
    older = story.bindings.by_storage.get(meta.storage, ()) if meta is not None and meta.storage is not None else ()
    made = (story.innermost_new(tensor, first) for tensor in older if tensor != leaf)
    last = max((call for call in made if call is not None), key=attrgetter("index"), default=None)
    if last is None or last.callsite is None or last.callsite.targets:
        return None
    return last.callsite if all(output.node is not None for output in last.outputs) else None


def _cut_off(story: Story, step: IdleStep, backward: int, filled: set[int], cut: Callsite) -> Hazard:
    return Hazard(
        code=CODE,
        severity="silent",
        message=_(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {cut} makes a new leaf of what was "
            "computed, which cuts it off its history, so {backward} reached that leaf and nothing before it. PyTorch "
            "gives no error."
        ).format(
            step=wording.spot(step.callsite),
            optimizer=step.optimizer,
            cut=wording.spot(cut),
            backward=wording.spot(story.calls[backward].callsite),
        ),
        fix=_("Keep the computed tensor as it is: no `nn.Parameter`, `detach()` or `.data` around it."),
        variable=None,
        mutation=cut,
        read=step.callsite,
        origin=story.calls[backward].callsite,
        tensor=min(filled),
        badges=Badges(wrote=_("cut off here"), read=_("moves nothing here"), origin=_("ends at the new leaf here")),
    )


def _hazard(story: Story, step: IdleStep, backward: int, filled: set[int], cleared_at: Callsite | None) -> Hazard:
    names = sorted(name for leaf in filled if (name := story.bindings.name(leaf)) is not None)
    named = f"`{names[0]}`" if names else _("parameters")
    if len(filled) > 1:
        named = _("{named} and {count} more").format(named=named, count=len(filled) - 1)
    cleared = bool(filled.intersection(step.held))
    message = (
        _(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {backward} had filled them "
            "({named}), and they were cleared in between. PyTorch gives no error."
        )
        if cleared
        else _(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {backward} filled those of other "
            "tensors ({named}), which nothing moves. PyTorch gives no error."
        )
    )
    fix = (
        _("Clear the gradients before `backward` or after the step, not between the two.")
        if cleared
        else _("Make the optimizer when the model has the parameters that it is to train, or hand it the new ones.")
    )
    return Hazard(
        code=CODE,
        severity="silent",
        message=message.format(
            step=wording.spot(step.callsite),
            optimizer=step.optimizer,
            backward=wording.spot(story.calls[backward].callsite),
            named=named,
        ),
        fix=fix,
        variable=names[0] if names else None,
        mutation=cleared_at or step.callsite,
        read=step.callsite if cleared_at is not None else None,
        origin=story.calls[backward].callsite,
        tensor=min(filled),
        badges=Badges(
            wrote=_("cleared here") if cleared_at is not None else _("moves nothing here"),
            read=_("moves nothing here"),
            origin=_("filled here"),
        ),
    )


RULE = Rule(check)
