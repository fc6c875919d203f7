"""A gradient that was noted became ``.grad`` itself, and later backwards added to it.

Autograd does not copy the first gradient that reaches a leaf, where nobody else counts as a holder of it
(https://github.com/pytorch/pytorch/blob/main/torch/csrc/autograd/functions/accumulate_grad.h). ``detach`` makes another
tensor on the same memory, so what a hook or the ``backward`` of a ``Function`` has put into a list is ``.grad`` from
then on, and grows with it.

Bad::

    class Noted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, weight):
            return weight.view_as(weight)

        @staticmethod
        def backward(ctx, grad):
            log.append(grad.detach())
            return grad

Good::

    class Noted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, weight):
            return weight.view_as(weight)

        @staticmethod
        def backward(ctx, grad):
            log.append(grad.clone())
            return grad

Told from the record alone: of several tensors from one line that are joined (``torch.stack(log)``), one is a view of
the memory of a gradient to which a backward added after the view was taken, and others are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent

CODE = "kept-gradient-added-to"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that took such a view."""
    seen = set()
    for call in story.trace.calls:
        if not call.does("gathers") or call.error is not None or not story.added_to:
            continue
        made = {meta.tensor: story.innermost_new(meta.tensor, call.index) for meta in call.inputs}
        places = Counter(maker.callsite for maker in made.values() if maker is not None)
        for meta in call.inputs:
            maker = made[meta.tensor]
            view = maker is not None and maker.kind == "view" and meta.tensor not in maker.gave_back
            if maker is None or not view or maker.callsite in seen or places[maker.callsite] < 2:
                continue
            alike = sum(other.storage == meta.storage for other in call.inputs)
            later = [at for at in story.added_to.get(meta.storage or 0, ()) if maker.index < at < call.index]
            if later and alike == 1:
                seen.add(maker.callsite)
                yield _hazard(story, call, maker, meta.tensor, later[0])


def _hazard(story: Story, call: CallEvent, maker: CallEvent, tensor: int, backward: int) -> Hazard:
    place = maker.callsite
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} took a gradient without a copy, and the gradient then became `.grad`: {backward} added to it. "
            "{read} reads the sum where it expects the single one. PyTorch gives no error."
        ).format(
            line=wording.spot(place),
            backward=wording.spot(story.calls[backward].callsite),
            read=wording.spot(call.callsite),
        ),
        fix=_("Keep a copy: append `.clone()` to {code}.").format(
            code=wording.code(place.expression) if place is not None else ""
        ),
        variable=story.bindings.name(tensor),
        origin=place,
        read=call,
        tensor=tensor,
        write=Write(None, None, backward, site=story.calls[backward].callsite),
        badges=Badges(wrote=_("adds to it here"), origin=_("taken here")),
    )


RULE = Rule(check)
