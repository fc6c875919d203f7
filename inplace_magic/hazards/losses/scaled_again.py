"""One run over a model's parameters changed some of them more than once.

``model.modules()`` goes through every level, and ``named_parameters()`` of each level through all below it, so the
weights of inner layers come several times (https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html). So
does a block that stands in a list several times.

Bad::

    with torch.no_grad():
        for module in model.modules():
            for p in module.parameters():
                p.mul_(0.9)

Good::

    with torch.no_grad():
        for p in model.parameters():
            p.mul_(0.9)

Told from the record alone: one line multiplied or shifted leaves that are trained, by numbers, pass after pass, and had
one of them again before any other line computed anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.traits import Trait

CODE = "scaled-again"
_BY_NUMBERS: tuple[Trait, ...] = ("scales", "shifts")


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each such line."""
    if not any(_changes_a_leaf(call) for trait in _BY_NUMBERS for call in story.doing(trait)):
        return
    times: Counter[int] = Counter()
    site = None
    seen = set()
    for call in story.trace.calls:
        if call.kind in ("query", "view"):
            continue
        if call.callsite is not site and call.callsite != site:
            site, times = call.callsite, Counter()
        if site is None or site in seen or not call.mutated or not _changes_a_leaf(call):
            continue
        times[call.mutated[0].tensor] += 1
        if times[call.mutated[0].tensor] > 1:
            seen.add(site)
            yield _hazard(story, call)


def _changes_a_leaf(call: CallEvent) -> bool:
    """Whether a call changes one trained leaf by numbers alone."""
    site = call.callsite
    if site is None or not site.direct or call.error is not None or len(call.mutated) != 1:
        return False
    changed, builds = call.mutated[0], any(map(call.does, _BY_NUMBERS))
    return changed.is_trainable and builds and {meta.tensor for meta in call.inputs} == {changed.tensor}


def _hazard(story: Story, call: CallEvent) -> Hazard:
    site, tensor = call.callsite, call.mutations[0].tensor
    name = story.bindings.written_name(call, tensor)
    whole = story.bindings.name(tensor) or name
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} changed {tensor} more than once in one go, as if each pass had another parameter. PyTorch gives no "
            "error."
        ).format(line=wording.spot(site), tensor=f"`{whole}`" if whole else _("a parameter")),
        fix=_(
            "Go through each parameter once: `model.parameters()`, or `named_parameters(recurse=False)` of each "
            "module; and give a list of blocks blocks of their own (`copy.deepcopy`)."
        ),
        variable=name,
        tensor=tensor,
        write=call,
    )


RULE = Rule(check)
