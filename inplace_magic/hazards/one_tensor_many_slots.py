"""A list or dict holds one tensor several times, and it was written as if the slots were separate.

``[t] * n`` and ``dict.fromkeys(keys, t)`` repeat a reference, a generator that fills and yields one buffer hands out
the same tensor each time, and appending a tensor that the next step writes in place stores the same tensor again.
Stacked afterwards, all entries are equal.

Bad::

    for t in range(4):
        history.append(state)
        state += velocity           # every entry follows
    torch.stack(history)

Good::

    history.append(state.clone())
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.language import _
from inplace_magic.trace import CallEvent, Callsite, Mutation

CODE = "one-tensor-many-slots"

_GATHERING = frozenset(("stack", "cat", "concat", "concatenate", "vstack", "hstack", "dstack", "column_stack"))


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    seen: set[Callsite | None] = set()
    for call in story.trace.calls:
        if call.name.rsplit(".", 1)[-1] in _GATHERING and call.error is None:
            for tensor, times in Counter(meta.tensor for meta in call.inputs).items():
                found = _written_repeatedly(story, tensor, call.index) if times > 1 else None
                if found is not None and found[0].callsite not in seen:
                    seen.add(found[0].callsite)
                    yield _hazard(story, *found, _reads(call, times))
    for call in story.trace.calls:
        for mutation in call.mutations if call.kind == "in-place" and call.callsite not in seen else ():
            slots = _slots_of(story, call, mutation)
            if slots is not None:
                seen.add(call.callsite)
                evidence = _("{one} and {other} are one and the same").format(one=slots[0], other=slots[1])
                yield _hazard(story, call, mutation, evidence)


def _written_repeatedly(story: Story, tensor: int, before: int) -> tuple[CallEvent, Mutation] | None:
    """The write of `tensor` that one place made at least twice before call `before`."""
    places: Counter[Callsite] = Counter()
    for call, mutation in story.writes_to_tensor.get(tensor, ()):
        if call.index >= before:
            break
        if call.callsite is not None:
            places[call.callsite] += 1
            if places[call.callsite] > 1:
                return call, mutation
    return None


def _slots_of(story: Story, call: CallEvent, mutation: Mutation) -> tuple[str, str] | None:
    """Two slots of the list or dict through which a line wrote (``states[i] += …``) that hold the written tensor."""
    node = story.bindings.written_operand(call, mutation.tensor)
    written = story.bindings.written_name(call, mutation.tensor) if node is not None else None
    match = re.fullmatch(r"(\w+)\[\w+\]", written or "")
    if match is None:
        return None
    slot = re.compile(re.escape(match[1]) + r'\[(\d+|"[^"]*")\]')
    names = [name for name in story.names.get(mutation.tensor, ()) if slot.fullmatch(name)]
    return (f"`{names[0]}`", f"`{names[1]}`") if len(names) > 1 else None


def _reads(call: CallEvent, times: int) -> str:
    return _("{line} reads it {count} times").format(line=wording.line_of(call.callsite), count=times)


def _hazard(story: Story, call: CallEvent, mutation: Mutation, evidence: str) -> Hazard:
    variable = story.bindings.written_name(call, mutation.tensor)
    what = f"`{variable}`" if variable else _("A tensor")
    if '["' in evidence:
        message = _(
            "{tensor} was written in place by {line}, and a dict holds that very tensor more than once: {evidence}. A "
            "dict keeps references, not copies, so every entry shows the last values."
        )
        fix = _("Give each key a tensor of its own (`{key: torch.zeros(n) for key in keys}`).")
    else:
        message = _(
            "{tensor} was written in place by {line}, and a list holds that very tensor more than once: {evidence}. A "
            "list keeps references, not copies, so every entry shows the last values."
        )
        fix = _(
            "Store a copy each time (`.clone()`), or make one tensor a slot (`[torch.zeros(n) for _ in range(k)]`)."
        )
    return Hazard(
        code=CODE,
        severity="warning",
        message=message.format(tensor=what, line=wording.spot(call.callsite), evidence=evidence),
        fix=fix,
        variable=variable,
        mutation=call.callsite,
        mutations=(call.callsite,) if call.callsite is not None else (),
        tensor=mutation.tensor,
        call=call.index,
    )
