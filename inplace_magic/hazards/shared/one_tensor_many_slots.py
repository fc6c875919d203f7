"""A list or dict holds one tensor several times, and it was written as if the slots were separate."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from inplace_magic.analysis.accesses import Write, write_by
from inplace_magic.analysis.ledger import owners_of
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.new_tensor import slot_bound_anew
from inplace_magic.hazards.fixes.of_origin import in_each_slot
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.references.slots import (
    Two,
    are_meant_as_one,
    is_filed_elsewhere,
    kept_and_read,
    several_at_the_end,
    slots_at_the_write,
)
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.grouped import grouped
from inplace_magic.record.paths import before_last_step, is_entry, is_entry_of_text
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

CODE = "one-tensor-many-slots"

_FEW = 16
"""Writes of a tensor among which that is looked for which builds on the old values."""


def one_tensor_many_slots(story: Story) -> Iterator[Found]:
    """Yield the writes of a tensor that a list or dict holds more than once."""
    seen: set[Callsite | None] = set()
    for call in story.doing("gathers"):
        if call.error is None and not _says_so(call):
            for write, tensor, times in _gathered(story, call):
                if write.site not in seen and not is_filed_elsewhere(story, tensor, write.call):
                    seen.add(write.site)
                    reads = _("{line} reads it {count} times")
                    reads = reads.format(line=wording.line_of(call.callsite), count=times)
                    yield _found(story, write, tensor, reads)
    asked: set[int] = set()
    for call in story.in_place:
        for mutation in call.mutations if call.callsite not in seen else ():
            first = mutation.tensor not in asked
            asked.add(mutation.tensor)
            found = _slots_written(story, call, mutation, first=first)
            if found is not None:
                write, (one, other) = found
                seen.add(write.site)
                are_one = _("{one} and {other} are one and the same").format(one=one, other=other)
                yield _found(story, write, mutation.tensor, are_one, keyed=_is_keyed(one, other))


def _slots_written(story: Story, call: CallEvent, mutation: Mutation, *, first: bool) -> tuple[Write, Two] | None:
    """Return the write that a finding blames, and two slots that are one tensor.

    Args:
        story: the trace.
        call: a write.
        mutation: what it wrote.
        first: whether nobody asked of this tensor before.
    """
    tensor = mutation.tensor
    slots = _slots_of(story, call, mutation) or slots_at_the_write(story, call, mutation)
    kept = kept_and_read(story, tensor) if slots is None and first else None
    slots = slots or kept
    if slots is not None and are_meant_as_one(story, tensor, slots, call):
        return None
    slots = slots or _results_of_one_call(story, call, mutation)
    write = write_by(*_repeated(story, tensor)) if kept is not None else write_by(call, mutation)
    return (write, slots) if slots is not None else None


def _gathered(story: Story, call: CallEvent) -> Iterator[tuple[Write, int, int]]:
    """(write between the times at which one memory was put into the list that is stacked, a tensor on it, how often it
    is there)."""
    alike = grouped(((meta.storage, region_of(meta)), meta.tensor) for meta in call.inputs)
    for (storage, region), tensors in alike.items():
        if len(tensors) > 1:
            tensor, times = Counter(tensors).most_common(1)[0]
            found = _written_repeatedly(story, storage, tensor, call.index) if times > 1 else None
            if found is None and storage is not None and region is not None:
                found, times = _written_between(story, storage, tensors), len(tensors)
            if found is not None:
                yield found, tensor, times


def _says_so(call: CallEvent) -> bool:
    """True if the line itself puts a tensor there several times: ``torch.cat([x, x])``, ``torch.stack([x] * 3)``."""
    node = expressions.parse(call.callsite.expression) if call.callsite is not None else None
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Mult):
        return isinstance(given.left, ast.List) or isinstance(given.right, ast.List)
    entries = [ast.dump(entry) for entry in given.elts] if isinstance(given, (ast.List, ast.Tuple)) else []
    return len(set(entries)) < len(entries)


def _written_between(story: Story, storage: int, tensors: list[int]) -> Write | None:
    """Return the first write between the makings of two aliases, such as ``state_dict()`` gives in each epoch. What
    code outside PyTorch wrote is told by `buffer-gathered`."""
    made = [maker.index for tensor in tensors if (maker := story.innermost_new(tensor, len(story.trace.calls)))]
    if len(made) < 2:
        return None
    writes = story.writes_between(storage, min(made), max(made))
    return next((write for write in writes if write.site is not None and write.foreign is None), None)


def _written_repeatedly(story: Story, storage: int | None, tensor: int, before: int) -> Write | None:
    """Return the write of `tensor` that one place made at least twice before call `before`; backwards that add to a
    gradient are such places."""
    places: Counter[Callsite] = Counter()
    for write in story.writes_between(storage, -1, before):
        added = write.call is None and write.at in story.added_to.get(storage or 0, ())
        if write.site is not None and (added or (write.mutation is not None and write.mutation.tensor == tensor)):
            places[write.site] += 1
            if places[write.site] > 1:
                return write
    return None


def _repeated(story: Story, tensor: int) -> tuple[CallEvent, Mutation]:
    """Of the writes of a tensor the first one by a line that wrote it again, if possible on top of what stood there;
    else the last."""
    writes = story.writes_to_tensor[tensor]
    lines = Counter(call.callsite for call, _mutation in writes)
    again = [entry for entry in writes if lines[entry[0].callsite] > 1]
    return next((entry for entry in again[:_FEW] if builds_on_itself(story, *entry)), again[0] if again else writes[-1])


def _slots_of(story: Story, call: CallEvent, mutation: Mutation) -> Two | None:
    """Return two slots of the list through which a line wrote (``states[i] += …``) that hold the written tensor."""
    if len(story.names.get(mutation.tensor, ())) < 2:
        return None
    several = several_at_the_end(story, mutation.tensor)
    for owned in owners_of(story, call, mutation) if several else ():
        container, _key = before_last_step(owned.path)
        plain = is_entry(owned.path) and not is_entry_of_text(owned.path) and not is_entry(container)
        slots = several.get(container, ()) if plain else ()
        if slots:
            return f"`{slots[0]}`", f"`{slots[1]}`"
    return None


def _results_of_one_call(story: Story, call: CallEvent, mutation: Mutation) -> Two | None:
    """Return the names of ``by_a, by_b = torch.autograd.grad(loss, (a, b))`` where both are one tensor, as the
    gradients of a sum are, and another line reads it after a write that builds on its values."""
    made = story.given_twice.get(mutation.tensor)
    if made is None or made.callsite is None or not builds_on_itself(story, call, mutation):
        return None
    later = (read for read in story.given_to.get(mutation.tensor, ()) if read.index > call.index)
    if all(read.callsite is None or read.callsite.same_line(call.callsite) for read in later):
        return None
    names, expression = made.callsite.targets or (), made.callsite.expression
    places = [place for place, output in enumerate(made.outputs) if output.tensor == mutation.tensor]
    one, other = (
        f"`{names[place]}`" if place < len(names) and names[place] else wording.code(f"{expression}[{place}]")
        for place in places[:2]
    )
    return one, other


def _is_keyed(one: str, other: str) -> bool:
    """True if two slots differ in a text, and so in a key of a dict: ``rates["a"]`` and ``rates["b"]``."""
    differ = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return one[one.rfind("[", 0, differ) :].startswith('["')


def _found(story: Story, write: Write, tensor: int, evidence: str, *, keyed: bool = False) -> Found:
    words = {"evidence": evidence, "new": "`{key: torch.zeros(n) for key in keys}`"}
    message, fix = _IN_A_DICT if keyed else ("", "")
    variable = story.name_written_by(write) or story.bindings.name(tensor)
    return Found({"line": write}, tensor, variable, words, message=message, fix=fix)


_IN_A_DICT = (
    N_(
        "{line} wrote {tensor} in place, and a dict holds that very tensor more than once: {evidence}. A "
        "dict keeps references, not copies, so every entry shows the last values."
    ),
    N_("Give each key a tensor of its own ({new})."),
)


def _entry_bound_anew(write: Written) -> Fix | None:
    """``sums[name] = sums[name] + x``; an attribute may be that of one object in all slots."""
    return slot_bound_anew(write) if write.path is not None and is_entry(write.path) else None


RULES = rules_of(
    Row(
        CODE,
        "warning",
        one_tensor_many_slots,
        message=N_(
            "{line} wrote {tensor} in place, and a list holds that very tensor more than once: {evidence}. A "
            "list keeps references, not copies, so every entry shows the last values."
        ),
        fix=N_(
            "Store a copy each time (`.clone()`), or make one tensor a slot (`[torch.zeros(n) for _ in range(k)]`)."
        ),
        ways=(in_each_slot, _entry_bound_anew),
        another_name_sees_it=True,
    ),
)
