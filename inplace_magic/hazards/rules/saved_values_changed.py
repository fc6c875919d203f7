"""A tensor that autograd saved for backward was overwritten, and its version did not move: the gradient is silently
wrong.

So is that of a custom ``Function`` which kept a tensor for its ``backward`` by itself, by ``ctx.x = x``, if somebody
wrote it in between: no version is noted there. The record shows it all the same: ``backward`` reads, at a later
version, a tensor that ``forward`` had read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice, takewhile
from operator import attrgetter

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.changed_values import PAST_AUTOGRAD, first_change, used_after
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes import refused, step_advice
from inplace_magic.hazards.rule import Cures, Event, Found, Row, Rule, findings
from inplace_magic.language import N_, _, sentences
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.grouped import grouped_by
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import class_around

CODE = "saved-values-changed"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line whose writes changed values that a backward used, or is meant to use."""
    groups: dict[int | Callsite, list[tuple[SavedTensor, AutogradNode, Write, int]]] = {}
    for saved in story.saved:
        node = story.nodes[saved.node]
        change = first_change(story, saved, node)
        if change is None:
            continue
        used = used_after(story, node, change, saved)
        if used is not None:
            groups.setdefault(change.site or change.at, []).append((saved, node, change, used))
    for group in groups.values():
        saved, node, change, _ = max(group, key=lambda entry: (entry[2].call is not None, entry[1].sequence or 0))
        yield _hazard(story, saved, node, change)
    yield from findings((KEPT_BY_CTX, PAST_AUTOGRAD), story)


def _hazard(story: Story, saved: SavedTensor, node: AutogradNode, change: Write) -> Hazard:
    saver, saved_site = story.saver_site(node)
    variable = story.name_of_saved(saved)
    if change.call is not None:
        written = change.mutation or change.call.inputs[0]
        variable = story.bindings.written_name(change.call, written.tensor) or variable
    return Hazard(
        code=CODE,
        severity="silent",
        message=_message(story, variable, saved_site, saved, node, change),
        fix=_fix(story, variable, saved_site, saved, change),
        variable=variable,
        mutation=change.site,
        saved=saved_site,
        saved_by=node.name,
        expected_version=saved.version,
        found_version=saved.version,
        tensor=change.mutation.tensor if change.mutation is not None else saved.tensor,
        call=change.call.index if change.call is not None else None,
        saved_call=saver.index if saver is not None else None,
    )


def _how(story: Story, change: Write) -> str:
    if change.foreign is not None:
        names = _(" and ").join(f"`{name}`" for name in change.foreign.names)
        names = names or _("memory that it shares with NumPy or other code")
        return _("from outside torch, through {names}").format(names=names)
    if change.call is None:
        return _("by something that the watch could not see")
    if change.mutation is None:
        return _("by giving it other memory (`.data = …`)")
    if change.is_uncounted:
        return _("by `{call}`, which does not count its writes").format(call=change.call.name)
    if not _is_of_data(story, change.call, change.mutation):
        return _("through an alias with a version counter of its own")
    return _("through an alias with a version counter of its own (`.data`)")


def _is_of_data(story: Story, write: CallEvent, mutation: Mutation) -> bool:
    """True if ``.data`` gave the alias through which somebody wrote, and not DLPack, for example."""
    made = story.innermost_new(mutation.tensor, write.index)
    while made is not None and made.inputs and not made.does("gives data"):
        made = story.innermost_new(made.inputs[0].tensor, made.index) if made.kind == "view" else None
    return made is not None and made.does("gives data")


def _message(
    story: Story, variable: str | None, site: Callsite | None, saved: SavedTensor, saver: AutogradNode, change: Write
) -> str:
    what = f"`{variable}`" if variable else _("A tensor")
    if change.site is not None:
        done = _("{tensor} was overwritten by {write}").format(tensor=what, write=wording.spot(change.site))
    elif change.foreign is not None:
        beside = _("{tensor} was overwritten between two torch calls, while another Python thread was running,")
        alone = _("{tensor} was overwritten between two torch calls, at an unknown line")
        done = (beside if change.foreign.beside else alone).format(tensor=what)
    else:
        done = _("{tensor} was overwritten at a place that the watch did not see").format(tensor=what)
    said = _("{done} after {save} had saved it for backward, in {node}.")
    if not saved.guarded and saver.function is not None:
        why = _(
            "PyTorch compares no versions of what `{function}` has kept by `save_for_backward`: the gradient is "
            "computed from the new values, without an error."
        )
    else:
        why = _(
            "The write came {how}, so no version moved and PyTorch did not notice: the gradient is computed from the "
            "new values, without an error."
        )
    said = said.format(done=done, save=wording.spot(site), node=saver.name)
    return sentences(said, why.format(function=saver.function, how=_how(story, change)))


def _is_state(story: Story, saved: SavedTensor) -> bool:
    """True if what was saved has no history, so that a write through ``.data`` spares autograd nothing: a buffer."""
    known = (story.observations.get(tensor) for tensor in story.bindings.by_storage.get(saved.storage or -1, ()))
    return all(meta is None or (meta.is_leaf and not meta.requires_grad) for meta in known)


def _fix(story: Story, variable: str | None, saved_site: Callsite | None, saved: SavedTensor, change: Write) -> str:
    line = wording.line_of(change.site)
    if change.foreign is not None:
        if not change.foreign.names:
            return _("Pass a copy to code outside torch, such as `.detach().clone().numpy()`, and write into that.")
        return _(
            "Copy when crossing from NumPy (`torch.tensor({name})`), or give `{name}` a new array instead of writing "
            "into it."
        ).format(name=change.foreign.names[0])
    if change.is_uncounted:
        anew = _("Compute the forward pass ({place}) again after {line}.")
        return anew.format(line=line, place=wording.place(saved_site))
    if saved.storage in story.trained_memories:
        return _(
            "Compute the forward pass again after {line}; and write under `torch.no_grad()` instead of through "
            "`.data`, so that PyTorch would notice."
        ).format(line=line)
    if _is_state(story, saved):
        told = _(
            "If {line} updates a state, let the line that saves it read a copy: `{name}.clone()` in {saved}. If it is "
            "part of the computation, make a new tensor instead of writing through `.data`."
        )
        call, mutation = change.call, change.mutation
        if call is not None and mutation is not None and not _is_of_data(story, call, mutation):
            told = _(
                "If {line} updates a state, let the line that saves it read a copy: `{name}.clone()` in {saved}. If it "
                "is part of the computation, make a new tensor instead of writing into shared memory."
            )
        return told.format(line=line, name=variable or _("it"), saved=wording.spot(saved_site))
    return _("Do not write through `.data`: write into a clone, or make a new tensor.")


_AT = attrgetter("at")
_INDEX = attrgetter("index")
_ByClass = dict[str | None, list[CallEvent]]


def kept_by_ctx(story: Story) -> Iterator[Found]:
    """Yield each write of such a tensor between ``forward`` and ``backward``."""
    forwards: dict[int, _ByClass] = {}
    for call in story.nested:
        if not story.went_through(call.parent):
            continue
        within = class_around(call.callsite, "backward")
        if within is None or within.rpartition(".")[2] not in story.nodes_of_functions:
            continue
        for meta in call.inputs:
            both = _written_between(story, within, meta, call, forwards)
            if both is not None:
                kept, write = both
                name = within.rpartition(".")[2]
                words = {"function": name, "kept_place": wording.place(kept.callsite)}
                variable = story.name_written_by(write) or story.bindings.name(meta.tensor)
                calls: dict[str, Event | None] = {"write": write, "saved": kept, "read": call}
                yield Found(calls, meta.tensor, variable, words, saved_by=f"{name}Backward")


def _written_between(
    story: Story, owner: str, meta: TensorMetadata, read: CallEvent, forwards: dict[int, _ByClass]
) -> tuple[CallEvent, Write] | None:
    """The last call of this class's ``forward`` that read the tensor, and the first write after it from elsewhere.

    Args:
        forwards: by tensor, the calls of each class's ``forward`` that got it; entered here.
    """
    if meta.counter is None:
        return None
    if meta.tensor not in forwards:
        forwards[meta.tensor] = grouped_by(
            lambda call: class_around(call.callsite, "forward"), story.given_to.get(meta.tensor, ())
        )
    given = forwards[meta.tensor].get(owner, [])
    before = bisect_left(given, read.index, key=_INDEX)
    if not before:
        return None
    kept, writes = given[before - 1], story.writes.get(meta.counter, ())
    later = islice(writes, bisect_right(writes, kept.index, key=_AT), None)
    for write in takewhile(lambda write: write.at < read.index, later):
        own = owner in (class_around(write.site, "forward"), class_around(write.site, "backward"))
        if write.call is not None and not own:
            return kept, write
    return None


KEPT_BY_CTX = Row(
    "saved-values-changed",
    "silent",
    kept_by_ctx,
    message=N_(
        "{tensor} was overwritten by {write} after `{function}.forward` had read it ({kept_place}). "
        "`{function}.backward` reads it again, in {read}, and sees the new values: it was not kept by "
        "`ctx.save_for_backward`, so PyTorch compares no version, and the gradient is wrong without an error."
    ),
    fix=N_(
        "Keep it by `ctx.save_for_backward(…)` in `{function}.forward`, so that PyTorch raises instead; and let "
        "{write_code} give a new tensor."
    ),
    nameless=N_("A tensor"),
)


RULE = Rule(CODE, "silent", check, {CODE: Cures(ways=(refused.version_kept,), advice=(step_advice.advice,))})
