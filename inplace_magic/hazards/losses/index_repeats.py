"""An index that names an element twice, and what was read through it is written back: one of the two updates is lost.

``count[i] += 1`` reads ``count[i]``, adds, and assigns the result. Where `i` holds 3 twice, both copies of
``count[3]`` get 1 added, and both are written to one element: it grows by 1, and not by 2
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html).

Bad::

    count[labels] += 1              # counts each label once at most
    grad[rows] = grad[rows] + step

Good::

    count.index_put_((labels,), count.new_tensor(1), accumulate=True)
    grad.index_add_(0, rows, step)
    count = torch.bincount(labels, minlength=10)

Told from the record alone: the index held repeats when the write ran (read from small index tensors in CPU memory), the
values written were computed from the elements that the same index had picked, nothing wrote them in between, and either
they were added to, or one element was given two different values. Silent for an assignment of other values, for masks,
and for a change that comes to the same however often it is made (``x[i] = x[i].clamp(0, 1)``).
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator
from operator import attrgetter

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _, ngettext, spelled
from inplace_magic.record.events import CallEvent, Dropped, Mutation

CODE = "index-repeats"
_LATEST = 32
"""Reads of the tensor before the write among which the one by the same index is looked for."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place of such a write."""
    seen = set()
    for call, mutation, dropped in story.dropping:
        site = call.callsite
        if dropped.kind != "repeats" or site is None or site in seen:
            continue
        picked = _picked(story, call, mutation)
        if picked is not None and (_adds(story, picked, call) or dropped.differ):
            seen.add(site)
            yield _hazard(story, call, mutation, picked, dropped)


def _picked(story: Story, call: CallEvent, mutation: Mutation) -> CallEvent | None:
    """The latest call that read, by the same index, the elements that a call writes; None where what is written was
    not computed from them, or where another write came in between."""
    given = call.inputs[-1].tensor if call.inputs else None
    index = [(meta.tensor, meta.version) for meta in call.inputs[1:-1]]
    known = story.given_to.get(mutation.tensor, [])
    here = bisect_left(known, call.index, key=attrgetter("index"))
    for read in reversed(known[max(0, here - _LATEST) : here]):
        if any(written.tensor == mutation.tensor for written in read.mutations):
            return None
        if not read.does("picks") or read.kind != "ordinary" or read.inputs[0].tensor != mutation.tensor:
            continue
        by_it = [(meta.tensor, meta.version) for meta in read.inputs[1:]] == index
        told = bool(index) or (call.callsite is not None and call.callsite.same_statement(read.callsite))
        if by_it and told and given in _made_from(story, read, call):
            return read
    return None


def _made_from(story: Story, read: CallEvent, until: CallEvent) -> set[int]:
    """The tensors computed from what a call gave."""
    made = {meta.tensor for meta in read.outputs}
    for call in _between(story, read, until):
        if call.got(made):
            made.update(meta.tensor for meta in call.outputs)
    return made


def _between(story: Story, first: CallEvent, last: CallEvent) -> Iterator[CallEvent]:
    calls = (story.calls.get(index) for index in range(first.index + 1, last.index))
    return (call for call in calls if call is not None)


def _adds(story: Story, read: CallEvent, write: CallEvent) -> bool:
    """Whether the way from the elements read to those written is one of sums: each repeat should have added its own."""
    made = {meta.tensor for meta in read.outputs}
    given = write.inputs[-1].tensor
    for call in _between(story, read, write):
        if call.got(made):
            if not call.does("adds"):
                return False
            made.update(meta.tensor for meta in call.outputs)
    return given in made and any(call.does("adds") for call in _between(story, read, write))


def _hazard(story: Story, call: CallEvent, mutation: Mutation, read: CallEvent, dropped: Dropped) -> Hazard:
    site = call.callsite
    variable = story.bindings.written_name(call, mutation.tensor) or story.bindings.name(mutation.tensor)
    named = f"`{variable}`" if variable else _("the tensor")
    return finding(
        CODE,
        "silent",
        message=ngettext(
            "{line} loses {count} of {all} updates: its index names an element of {tensor} more than once, and an "
            "assignment keeps one value for each element. PyTorch gives no error.",
            "{line} loses {count} of {all} updates: its index names elements of {tensor} more than once, and an "
            "assignment keeps one value for each element. PyTorch gives no error.",
            dropped.values,
        ).format(line=wording.spot(site), count=dropped.values, all=dropped.among, tensor=named),
        fix=_(
            "Let PyTorch add the repeats up: `x.index_put_((index,), values, accumulate=True)`, or `x.index_add_(0, "
            "index, values)`. To count, `torch.bincount(index)`."
        ),
        variable=variable,
        origin=read.callsite,
        tensor=mutation.tensor,
        write=call,
    )


def accumulated(write: Written) -> Fix | None:
    """``count.index_put_((i,), count.new_tensor(1), accumulate=True)`` for ``count[i] += 1``."""
    statement, call, listing = write.statement, write.call, write.listing
    if call is None or not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, (ast.Add, ast.Sub)):
        return None
    target = statement.target
    if not isinstance(target, ast.Subscript) or "\n" in listing.text(statement):
        return None
    entries = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    path, metas = listing.text(target.value), call.inputs
    added = write.story.calls.get(call.index - 1)
    if len(metas) != len(entries) + 2 or added is None or not added.does("adds") or len(added.inputs) > 2:
        return None  # an index that is no tensor, or values computed on the way
    value, sign = listing.text(statement.value), "-" if isinstance(statement.op, ast.Sub) else ""
    if sign and not isinstance(statement.value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)):
        value = f"({value})"
    if len(added.inputs) == 1:
        value = spelled("{path}.new_tensor({value})").format(path=path, value=sign + value)
    elif added.inputs[1].dtype == metas[0].dtype:
        value = f"{sign}{value}"
    else:
        return None
    index = ", ".join(listing.text(entry) for entry in entries) + ("," if len(entries) == 1 else "")
    edit = listing.replace(statement, f"{path}.index_put_(({index}), {value}, accumulate=True)")
    return Fix(write.site, listing, (edit,)) if edit is not None else None


RULE = Rule(check, {CODE: Cures((accumulated,))})
