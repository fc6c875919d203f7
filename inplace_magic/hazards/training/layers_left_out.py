"""A module keeps layers in a plain list, tuple or dict: ``parameters()`` does not give them, and no optimizer moves
them.

A module registers what is assigned to its attributes, and does not look into containers; for those there are
``nn.ModuleList`` and ``nn.ModuleDict`` (https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html). The
loss falls by what the other layers learn, the layers in the list stay as they were made, and ``state_dict()`` does not
have them.

Bad::

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(4, 4) for _ in range(2)]
            self.head = nn.Linear(4, 1)

        def forward(self, x):
            for layer in self.layers:
                x = torch.tanh(layer(x))
            return self.head(x)


    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)    # of the head alone
    for _ in range(3):
        opt.zero_grad()
        net(x).square().mean().backward()
        opt.step()

Good::

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
            self.head = nn.Linear(4, 1)

        def forward(self, x):
            for layer in self.layers:
                x = torch.tanh(layer(x))
            return self.head(x)


    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        opt.zero_grad()
        net(x).square().mean().backward()
        opt.step()

Told from the record alone: an optimizer that holds every parameter that a module registers and that wants a gradient
was about to step; the module, or one below it, had layers in a plain container; their parameters were made in the
watch and filled with random numbers; two backwards at least added to the gradient of one of them, and nobody read or
cleared that; no optimizer that was seen holds them, and nobody writes them. Silent for layers that are registered as
well, that another name leads to, or an optimizer in sight holds, that are frozen or stepped by hand, and for those
whose values were loaded or copied, as a network is that is only asked. Silent for a container of one, by which a module
is hidden on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.gradients import GradientEvent, gradient_histories
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.training import LayersBeside

CODE = "layers-left-out"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each container."""
    entries = story.trace.layers_beside
    if not entries:
        return
    held = {tensor for stepping in story.trace.steppings for tensor in stepping.held}
    histories: dict[int, list[GradientEvent]] = {}
    for leaf, events in gradient_histories(story):
        histories.setdefault(leaf, []).extend(events)
    told: set[int] = set()
    for entry in entries:
        mine = [tensor for tensor in entry.parameters if tensor in histories]
        if not mine or not held.isdisjoint(entry.parameters) or not told.isdisjoint(entry.parameters):
            continue
        events = [event for tensor in mine for event in histories[tensor]]
        added = {event.at for event in events if event.kind == "added"}
        if len(added) < 2 or any(event.kind != "added" for event in events):
            continue
        initial = [_initial(story, tensor, min(added)) for tensor in entry.parameters]
        if all(initial) and any(call.does("draws") for calls in initial for call in calls):
            told.update(entry.parameters)
            yield _hazard(story, entry, initial[0][0], story.calls[min(added)], mine[0])


def _initial(story: Story, tensor: int, backward: int) -> list[CallEvent]:
    """The call that made a parameter and those that gave it its first values; none where it was there before, was given
    values of another tensor, or is written after a backward has filled its gradient."""
    meta = story.observations.get(tensor)
    maker = story.maker_of_storage(meta.storage) if meta is not None else None
    if meta is None or meta.storage is None or maker is None:
        return []
    writes = [write for write in story.writes_to_memory(meta.storage) if write.at != maker.index]
    calls = [maker, *(write.call for write in writes if write.call is not None)]
    first = all(any(call.does(each) for each in ("draws", "fills", "zeroes")) for call in calls[1:])
    seen = len(calls) == len(writes) + 1
    return calls if writes and seen and first and all(write.at < backward for write in writes) else []


def _hazard(story: Story, entry: LayersBeside, maker: CallEvent, backward: CallEvent, tensor: int) -> Hazard:
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{cls} keeps layers in a plain {kind}, `{path}`, which `parameters()` does not look into: {step} moves "
            "what the module has registered, and nobody moves the {count} parameters of these layers, the first made "
            "by {line}, though {backward} fills their gradients. PyTorch gives no error."
        ).format(
            cls=entry.cls,
            kind=entry.kind,
            path=entry.path,
            step=wording.spot(entry.callsite),
            count=len(entry.parameters),
            line=wording.spot(maker.callsite),
            backward=wording.spot(backward.callsite),
        ),
        fix=_("Put the layers into `{container}`, before the optimizer is made.").format(
            container="nn.ModuleDict({...})" if entry.kind == "dict" else "nn.ModuleList([...])"
        ),
        variable=entry.path,
        mutation=maker.callsite or entry.callsite,
        read=entry.callsite,
        origin=backward.callsite,
        tensor=tensor,
        badges=Badges(wrote=_("made here"), read=_("does not move them"), origin=_("fills their gradients")),
    )


RULE = Rule(check)
