"""What each line of the user's code did, folded so that a loop of a thousand steps is one row and not a thousand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inplace_magic.analysis.effects import Effect
from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.naming.rebindings import Rebinding
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
    effect: Effect | None
    """What the first call did; None for an error and for a rebinding."""
    last: Effect | None = None
    """What the last call did."""
    count: int = 1
    error: str | None = None
    rebinding: Rebinding | None = None
    mixed: bool = False
    """Whether repetitions were about different tensors."""
    one_shape: bool = True
    """Whether all of them have the shape and dtype of the last one."""
    one_base: bool = True
    """Whether all views are of one tensor."""
    written: str | None = None
    """What the line calls the tensor that it wrote."""

    @property
    def after(self) -> TensorMetadata | None:
        """The tensor after the last call that did it."""
        return self.last.after if self.last is not None else None

    @property
    def shape(self) -> str:
        """Shape and dtype of what was made; empty where there are several."""
        return shape(self.after) if self.kind in ("created", "viewed") and self.one_shape else ""

    @property
    def kind(self) -> str:
        """The effect's kind, or ``raised``, or ``rebound``."""
        if self.effect is not None:
            return self.effect.kind
        return "raised" if self.rebinding is None else "rebound"


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


_Seen = tuple[CallEvent, Effect | Rebinding | None]
"""A call, and what it did; None for an error."""


def _step(seen: list[_Seen], story: Story) -> Step:
    call, first = seen[0]
    count = sum(each.passes for each, _row in seen)
    if first is None:
        return Step(call, None, count=count, error=call.error)
    if isinstance(first, Rebinding):
        return Step(call, None, count=count, rebinding=[row for _, row in seen if isinstance(row, Rebinding)][-1])
    rows = [row for _call, row in seen if isinstance(row, Effect)]
    return Step(
        call,
        first,
        rows[-1],
        count,
        mixed=any(row.tensor != first.tensor for row in rows),
        one_shape=all(_facts(row.after, "shape", "dtype") == _facts(first.after, "shape", "dtype") for row in rows),
        one_base=all(_facts(row.base, "tensor") == _facts(first.base, "tensor") for row in rows),
        written=story.bindings.written_as(call, first.tensor) if first.kind == "mutated" else None,
    )


def _facts(tensor: TensorMetadata | None, *names: str) -> tuple[object, ...] | None:
    return None if tensor is None else tuple(getattr(tensor, name) for name in names)


def step_phrase(step: Step, names: dict[int, str]) -> str:
    """One line of words for a step, e.g. ``mutated in place v0→v1: [2]: 0.3 → 2``."""
    if step.rebinding is not None:
        said = _("rebound: `{name}` was T{before}, is T{after}; nothing written").format(
            name=step.rebinding.name, before=step.rebinding.before, after=step.rebinding.after
        )
        return _several(said, step.count) if step.count > 1 else said
    if step.effect is None:
        return _("raised {error}").format(error=step.error)
    if step.count == 1 or step.last is None:
        return effect_phrase(step.effect, names)
    if step.kind == "mutated" and not step.mixed:
        phrase = _("mutated in place {step} in {count} writes").format(
            step=version_step(step.effect.version_before, step.last.version_after), count=step.count
        )
        first, last = step.effect.mutation, step.last.mutation
        if first is not None and last is not None:
            whole = replace(first, values_after=last.values_after)
            changed = changed_values(whole, step.last.after)
            phrase += f": {changed}" if changed else ""
        return phrase
    if step.kind == "mutated":
        first_step = version_step(step.effect.version_before, step.effect.version_after)
        return _("mutated in place, {count} times; the first {step}").format(count=step.count, step=first_step)
    if step.effect.base is not None and not step.one_base:
        label = tensor_label(step.effect.base.tensor, names)
        return _several(_("view of {tensor} and of others").format(tensor=label), step.count)
    return _several(effect_phrase(step.effect, names), step.count)


def _several(said: str, count: int) -> str:
    return ngettext("{said}, {count} time", "{said}, {count} times", count).format(said=said, count=count)


def step_label(step: Step, names: dict[int, str]) -> str:
    """The tensor of a step: ``T4 probs``; of repetitions on different tensors the first and the last, ``T4 … T7`` where
    they are those and all between, else ``T4, …, T9``."""
    if step.rebinding is not None:
        return step.rebinding.name
    if step.effect is None:
        return ""
    first = tensor_label(step.effect.tensor, names)
    if step.count == 1 or step.last is None or not step.mixed:
        return tensor_label(step.effect.tensor, names, step.written)
    if step.count == 2:
        return f"{first}, T{step.last.tensor}"
    all_between = step.last.tensor - step.effect.tensor == step.count - 1
    return f"{first} … T{step.last.tensor}" if all_between else f"{first}, …, T{step.last.tensor}"
