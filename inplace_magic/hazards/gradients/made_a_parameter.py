"""A tensor that was computed was made a parameter: backward stops there, and what computed it is not trained.

A parameter is a leaf: ``nn.Parameter(x)`` takes the memory of `x` and none of its history
(https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html). Weights that another network makes
are results, and a layer has to read them as such.

Bad::

    optimizer = torch.optim.SGD(maker.parameters(), lr=0.1)
    layer = nn.Linear(3, 2, bias=False)
    layer.weight = nn.Parameter(maker(code).view(2, 3))     # a leaf: its gradient goes no further
    layer(x).square().sum().backward()
    optimizer.step()

Good::

    optimizer = torch.optim.SGD(maker.parameters(), lr=0.1)
    weight = maker(code).view(2, 3)
    F.linear(x, weight).square().sum().backward()
    optimizer.step()

Told from the record alone: a module was given a parameter that lies where a tensor with a history lay; a backward
filled the gradient of that parameter, and nobody ever wrote it; no backward ran through the history; and a step of an
optimizer that holds a leaf behind that history found no gradient. Silent for layers that are only begun with computed
values: those are trained themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.autograd import IdleStep, Registration
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite

CODE = "made-a-parameter"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that makes such a parameter."""
    seen: set[Callsite | None] = set()
    if not story.trace.idle_steps or not story.trace.registrations:
        return
    sources, filled = _with_history(story), _filled(story)
    for entry in story.trace.registrations:
        source = sources.get(entry.storage) if entry.storage is not None else None
        if source is None or entry.callsite in seen or source[0].index >= entry.call:
            continue
        made, result = source
        leaf, read = _leaf_on(story, entry)
        if leaf is None or read is None or leaf not in filled or _is_written(story, entry):
            continue
        step = _idle_step(story, result, entry.call)
        if step is not None:
            seen.add(entry.callsite)
            yield _hazard(story, entry, result, made, read, step)


def _with_history(story: Story) -> dict[int, tuple[CallEvent, TensorMetadata]]:
    """By memory, the last tensor on it that was computed, through whose history no backward ran."""
    found = {}
    for call in story.trace.calls:
        for meta in call.outputs:
            if meta.storage is None or meta.is_leaf or meta.node is None:
                continue
            if not story.ran_through.get(meta.node):
                found[meta.storage] = call, meta
    return found


def _filled(story: Story) -> set[int | None]:
    """The leaves that a backward came to."""
    return {node.variable for node in story.trace.nodes if node.variable is not None and node.node in story.ran_through}


def _leaf_on(story: Story, entry: Registration) -> tuple[int | None, CallEvent | None]:
    """The parameter, and the first call that read it."""
    for tensor in story.bindings.by_storage.get(entry.storage or 0, ()):
        for call in story.given_to.get(tensor, ()):
            given = next(meta for meta in call.inputs if meta.tensor == tensor)
            if call.index >= entry.call and given.is_trainable and given.storage == entry.storage:
                return tensor, call
    return None, None


def _is_written(story: Story, entry: Registration) -> bool:
    return any(write.at >= entry.call for write in story.writes_to_memory(entry.storage))


def _idle_step(story: Story, result: TensorMetadata, since: int) -> IdleStep | None:
    """The first step after a call that found no gradient on what a tensor was computed from, while nobody moves it."""
    reached = story.reached([result.node] if result.node is not None else [])
    leaves = {variable for number in reached if (variable := story.nodes[number].variable) is not None}
    place = bisect_right(story.trace.idle_steps, since, key=attrgetter("call"))
    for step in story.trace.idle_steps[place : place + 1]:
        held = leaves.intersection(step.held)
        if held and not any(_is_moved(story, leaf, since) for leaf in held):
            return step
    return None


def _is_moved(story: Story, leaf: int, since: int) -> bool:
    meta = story.observations.get(leaf)
    return meta is not None and any(write.at > since for write in story.writes_to_memory(meta.storage))


def _hazard(
    story: Story, entry: Registration, result: TensorMetadata, made: CallEvent, read: CallEvent, step: IdleStep
) -> Hazard:
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{line} makes a parameter of what {made} computed. A parameter is a leaf: {read} reads it, and backward "
            "goes no further, so what {made} was computed from gets no gradient, and {step} finds none on the "
            "parameters of the {optimizer}. PyTorch gives no error."
        ).format(
            line=wording.spot(entry.callsite),
            made=wording.line_of(made.callsite),
            read=wording.spot(read.callsite),
            step=wording.spot(step.callsite),
            optimizer=step.optimizer,
        ),
        fix=_("Read the computed tensor as it is, in `F.linear(x, weight)` or by `torch.func.functional_call`."),
        variable=entry.name,
        mutation=entry.callsite,
        badges=Badges(wrote=_("made a leaf here")),
        origin=made.callsite if made.callsite != entry.callsite else None,
        tensor=result.tensor,
    )


RULE = Rule(check)
