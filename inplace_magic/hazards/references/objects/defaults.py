"""An object keeps a value under a key, took that very tensor for its attribute of the same name, and writes it.

``setattr(self, name, default)`` in a loop over ``self.defaults`` says no name and makes no call. That the attribute
holds another tensor than before, and that the dict holds it, too, was seen when a line wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import Holding
from inplace_magic.record.paths import before_last_step


@dataclass(frozen=True)
class TakenOver:
    """A write of an attribute that an object took over from a dict of its own."""

    call: CallEvent
    attribute: Holding
    entry: Holding


def taken_over_and_written(story: Story) -> Iterator[TakenOver]:
    """Yields the writes, on top of the old values, of a tensor that a dict of the same object holds by the same name,
    where the line wrote another tensor of the attribute before, which that dict did not hold."""
    before: dict[tuple[object, ...], Holding] = {}
    for call in story.in_place:
        site = call.callsite
        held = [h for h in story.holdings.get(call.index, ()) if h.level == 0]
        for mutation in call.mutations if held and site is not None else ():
            own = next((h for h in held if h.tensor == mutation.tensor and _is_attribute(h)), None)
            if own is None or site is None:
                continue
            entry = next((h for h in held if h.tensor == own.tensor and _keeps(h, own)), None)
            key = (site.cell, site.file, site.line, own.path, own.object)
            first = before.setdefault(key, own) if entry is None else before.get(key)
            if first is None or entry is None or first.tensor == own.tensor:
                continue
            if builds_on_itself(story, call, mutation):
                yield TakenOver(call, own, entry)


def _is_attribute(holding: Holding) -> bool:
    root, attribute = before_last_step(holding.path)
    return root.isidentifier() and attribute.startswith(".")


def _keeps(holding: Holding, own: Holding) -> bool:
    """Whether it is ``self.defaults["found"]`` for ``self.found``."""
    root, attribute = before_last_step(own.path)
    container, key = before_last_step(holding.path)
    return container.startswith(f"{root}.") and key == f'["{attribute[1:]}"]'
