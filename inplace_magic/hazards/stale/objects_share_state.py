"""Two objects of one class count in one tensor: each goes on from what the other has counted.

``copy.copy(meter)`` copies the references to the tensors, and not the tensors.

Bad::

    best = copy.copy(meter)
    meter.update(x)                 # best has counted it, too
    best.update(y)

Good::

    best = copy.deepcopy(meter)
    meter.update(x)
    best.update(y)

Told from the record and the names: one line of a method wrote a tensor, building on its values, for one object and then
for another one, and at the end both hold it under the attribute that the line says. Silent for two names of one object,
and for leaves that are trained.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.references.engine import Again, written_again
from inplace_magic.hazards.references.owners import object_of
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

CODE = "objects-share-state"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    one_object = {frozenset((alias.target, alias.source)) for alias in story.trace.aliases}
    for again in written_again(story, partial(_for_object, story)):
        if frozenset((again.before, again.now)) not in one_object:
            yield _hazard(story, again)


def _for_object(story: Story, call: CallEvent, site: Callsite, tensor: int) -> str | None:
    """The object of the user's for which a method writes an attribute."""
    path = story.bindings.written_path(call, tensor)
    if path is None or path.count(".") != 1 or not path.startswith("self."):
        return None
    meta = story.observations.get(tensor)
    holder = object_of(site.caller)
    if holder is None or meta is None or meta.is_trainable:
        return None
    names = story.names.get(tensor, ())
    of_the_class = f"{site.function.rpartition('.')[0]}.{path[5:]}" in names  # see `class-attribute-written`
    return holder if f"{holder}.{path[5:]}" in names and not of_the_class else None


def _hazard(story: Story, again: Again[str]) -> Hazard:
    attribute = (story.bindings.written_path(again.call, again.tensor) or "").partition(".")[2]
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} writes `{now}.{attribute}` on top of what it had written for `{before}`: both objects hold one "
            "tensor. PyTorch gives no error."
        ).format(line=wording.spot(again.site), attribute=attribute, before=again.before, now=again.now),
        fix=_("Give each object a tensor of its own: `copy.deepcopy`, or make it in `__init__`."),
        variable=f"{again.now}.{attribute}",
        tensor=again.tensor,
        write=again.call,
    )


RULE = Rule(check)
