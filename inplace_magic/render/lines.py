"""What each line of the user's code did, folded so that a loop of a thousand steps is one row and not a thousand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter

from inplace_magic.analysis.effects import Effect
from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.naming.known import Rebinding
from inplace_magic.analysis.story import Story
from inplace_magic.language import _, ngettext
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite
from inplace_magic.render.words import changed_values, effect_phrase, shape, tensor_label, version_step


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a line did, once or several times."""

    call: CallEvent
    """The first call that did it."""
    count: int
    effects: tuple[Effect, ...] = ()
    """What each of its calls did; empty for an error and for a rebinding."""
    error: str | None = None
    rebinding: Rebinding | None = None
    written: str | None = None
    """What the line calls the tensor that it wrote."""

    @property
    def effect(self) -> Effect | None:
        return self.effects[0] if self.effects else None

    @property
    def after(self) -> TensorMetadata | None:
        """The tensor after the last call that did it."""
        return self.effects[-1].after if self.effects else None

    @property
    def shape(self) -> str:
        """Shape and dtype of what was made; empty where there are several."""
        alike = self.kind in ("created", "viewed") and self.is_one(lambda row: row.after and row.after.shape)
        return shape(self.after) if alike and self.is_one(lambda row: row.after and row.after.dtype) else ""

    @property
    def kind(self) -> str:
        """The effect's kind, or ``raised``, or ``rebound``."""
        if self.effects:
            return self.effects[0].kind
        return "raised" if self.rebinding is None else "rebound"

    def is_one(self, fact: Callable[[Effect], object]) -> bool:
        """True if a fact is the same of all that was done."""
        return len(set(map(fact, self.effects))) == 1


@dataclass(frozen=True, slots=True)
class LineStory:
    """A line and what it did, in order."""

    site: Callsite | None
    steps: tuple[Step, ...]


def lines_of(story: Story) -> tuple[LineStory, ...]:
    """Every line that made, viewed, wrote or returned a tensor, or raised, in the order of first running."""
    stories: dict[object, tuple[Callsite | None, dict[object, list[_Seen]]]] = {}
    rebound = grouped((each.call, each) for each in story.rebindings)
    for call in story.trace.calls:
        steps = stories.setdefault(line_key(call.callsite), (call.callsite, {}))[1]
        # `x[0]` and `y[1]` on one line are two steps, not one that ran twice
        code = call.callsite.expression if call.callsite is not None else ""
        for position, row in enumerate(story.effects[call.index]):
            steps.setdefault((call.name, code, row.kind, position), []).append((call, row))
        for rebinding in rebound.get(call.index, ()):
            steps.setdefault(("rebound", rebinding.name), []).append((call, rebinding))
        if call.error is not None:
            steps.setdefault(("raised", call.error), []).append((call, None))  # of a call within it, too
    return tuple(
        LineStory(site, tuple(_step(seen, story) for seen in steps.values()))
        for site, steps in stories.values()
        if steps
    )


_tensor = attrgetter("tensor")
_Seen = tuple[CallEvent, Effect | Rebinding | None]
"""A call, and what it did; None for an error."""


def _step(seen: list[_Seen], story: Story) -> Step:
    call, first = seen[0]
    count = sum(each.passes for each, _row in seen)
    if first is None:
        return Step(call, count, error=call.error)
    if isinstance(first, Rebinding):
        return Step(call, count, rebinding=[row for _, row in seen if isinstance(row, Rebinding)][-1])
    rows = tuple(row for _call, row in seen if isinstance(row, Effect))
    written = story.bindings.written_as(call, first.tensor) if first.kind == "mutated" else None
    return Step(call, count, rows, written=written)


def step_phrase(step: Step, names: dict[int, str]) -> str:
    """One line of words for a step, e.g. ``mutated in place v0→v1: [2]: 0.3 → 2``."""
    if step.rebinding is not None:
        text = _("rebound: `{name}` was T{before}, is T{after}; nothing written")
        said = text.format(name=step.rebinding.name, before=step.rebinding.before, after=step.rebinding.after)
        return _several(said, step.count) if step.count > 1 else said
    if not step.effects:
        return _("raised {error}").format(error=step.error)
    first, last = step.effects[0], step.effects[-1]
    if step.count == 1:
        return effect_phrase(first, names)
    if step.kind == "mutated" and step.is_one(_tensor):
        versions = version_step(first.version_before, last.version_after)
        phrase = _("mutated in place {step} in {count} writes").format(step=versions, count=step.count)
        changed = ""
        if first.mutation is not None and last.mutation is not None:
            changed = changed_values(replace(first.mutation, values_after=last.mutation.values_after), last.after)
        return f"{phrase}: {changed}" if changed else phrase
    if step.kind == "mutated":
        first_step = version_step(first.version_before, first.version_after)
        return _("mutated in place, {count} times; the first {step}").format(count=step.count, step=first_step)
    if first.base is not None and not step.is_one(lambda row: row.base and row.base.tensor):
        label = tensor_label(first.base.tensor, names)
        return _several(_("view of {tensor} and of others").format(tensor=label), step.count)
    return _several(effect_phrase(first, names), step.count)


def _several(said: str, count: int) -> str:
    return ngettext("{said}, {count} time", "{said}, {count} times", count).format(said=said, count=count)


def step_label(step: Step, names: dict[int, str]) -> str:
    """The tensor of a step: ``T4 probs``; of repetitions on different tensors the first and the last, ``T4 … T7`` where
    they are those and all between, else ``T4, …, T9``."""
    if step.rebinding is not None:
        return step.rebinding.name
    if not step.effects:
        return ""
    first, last = step.effects[0].tensor, step.effects[-1].tensor
    label = tensor_label(first, names)
    if step.count == 1 or step.is_one(_tensor):
        return tensor_label(first, names, step.written)
    if step.count == 2:
        return f"{label}, T{last}"
    return f"{label} … T{last}" if last - first == step.count - 1 else f"{label}, …, T{last}"
