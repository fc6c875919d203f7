"""Gradients that were parts of one tensor, and are no longer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.row import Calls, Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent


def left_behind(story: Story) -> Iterator[Found]:
    """Yield the lines that took the gradients out of a tensor, which is used afterwards as if they were in it."""
    for storage, leaves in _buckets(story).items():
        taken = [call for call in leaves.values() if call is not None]
        maker, writes = story.maker_of_storage(storage), story.writes_to_storage.get(storage, ())
        plain = all(call.does("zeroes") or call.does("fills") or call.does("scales") for call, _mutation in writes)
        if len(taken) < max(2, len(leaves)) or maker is None or not maker.does("buffer") or not plain:
            continue
        last = max(taken, key=lambda call: call.index)
        later = islice(story.backwards_run, bisect_right(story.backwards_run, last.index), None)
        filled = next((at for at in later if not story.calls[at].does("gives gradients")), None)
        if filled is None or story.gradients.leaves_of(filled).isdisjoint(leaves):
            continue
        used = (call for call in story.given_memory(storage) if call.kind == "ordinary" or call.does("scales"))
        read = next((call for call in used if call.index > filled), None)
        if read is not None:
            tensor = next(meta.tensor for meta in read.inputs if meta.storage == storage)
            calls = {"taken": last, "filled": story.calls[filled], "read": read}
            yield Found(calls, tensor, story.bindings.name(tensor))


def _buckets(story: Story) -> dict[int, dict[int, CallEvent | None]]:
    """Return, by memory, the leaves that had a part of it as their gradient, and the last call that took it away."""
    found: dict[int, dict[int, CallEvent | None]] = {}
    given: dict[int, int] = {}
    for call in story.doing("sets gradient"):
        leaf, *values = call.inputs or (None,)
        if leaf is None:
            continue
        before = given.pop(leaf.tensor, None)
        if before is not None:
            found[before][leaf.tensor] = call
        if values and values[0].storage is not None:
            given[leaf.tensor] = values[0].storage
            found.setdefault(values[0].storage, {})[leaf.tensor] = None
    return found


RULES = rules_of(
    Row(
        "bucket-left-behind",
        "warning",
        left_behind,
        Calls(write="taken", read="read"),
        nameless=N_("one tensor"),
        message=N_(
            "{taken} removes the gradients that were parts of {tensor}, so {filled} makes new ones elsewhere, "
            "and {read} uses {tensor} as if the gradients were still in it. PyTorch gives no error."
        ),
        fix=N_("Clear by `zero_grad(set_to_none=False)`, or copy the gradients into that tensor after backward."),
        badges=Badges(wrote=N_("takes them out of it here"), read=N_("uses what is no gradient here")),
    ),
    every_call=True,
)
