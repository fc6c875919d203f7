"""A parameter was frozen, and the optimizer moved it all the same.

``requires_grad = False`` keeps backward from filling ``.grad`` and leaves the gradient that stands there. An optimizer
that still has the parameter goes on by it, by its momentum and by weight decay; zeros in ``.grad`` do not hold it
(https://docs.pytorch.org/docs/stable/optim.html).

Bad::

    w.requires_grad_(False)
    opt.zero_grad(set_to_none=False)
    opt.step()                      # momentum moves w

Good::

    w.requires_grad_(False)
    w.grad = None
    opt.step()

Told from the record alone: library code moved a leaf while it was trained, the leaf no longer requires a gradient, and
the same operation of library code moved it again.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, TensorMetadata

CODE = "frozen-but-moved"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that moves such leaves."""
    trained: set[tuple[str, int]] = set()
    seen = set()
    for call in story.in_place:
        site = call.callsite
        if site is None or site.direct or call.does("overwrites"):
            continue
        for meta in call.mutated:
            key = call.name, meta.tensor
            if meta.is_trainable:
                trained.add(key)
            elif key in trained and meta.is_leaf and site not in seen:
                seen.add(site)
                yield _hazard(story, call, meta)


def _hazard(story: Story, call: CallEvent, meta: TensorMetadata) -> Hazard:
    site, name = call.callsite, story.bindings.name(meta.tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} moves {tensor}, which no longer requires a gradient: the optimizer still has it, with the gradient "
            "or the momentum of earlier steps. PyTorch gives no error."
        ).format(line=wording.spot(site), tensor=f"`{name}`" if name else _("a frozen parameter")),
        fix=_(
            "Drop the gradients of what is frozen (`p.grad = None`, `zero_grad(set_to_none=True)`), or give the "
            "optimizer only what is trained."
        ),
        variable=name,
        tensor=meta.tensor,
        write=call,
    )


RULE = Rule(check)
