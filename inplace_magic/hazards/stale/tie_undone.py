"""Two parameters or buffers were one memory, a line made them two, and one is read as if it still followed the other.

``copy.deepcopy`` of a module copies each parameter by itself
(https://github.com/pytorch/pytorch/issues/79788), so views of one vector are none in the copy. ``module.double()`` and
``module.to(device)`` convert each module's buffers, so a buffer of two modules becomes two. And
``load_state_dict(…, assign=True)`` puts an entry of its own under each name
(https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict), so tied weights
are tied no longer.

Bad::

    net.head.weight = net.embed.weight                  # one parameter in two modules
    net.load_state_dict(checkpoint, assign=True)        # two parameters from here on
    train(net)

Good::

    net.load_state_dict(checkpoint, assign=True)
    net.head.weight = net.embed.weight                  # one again
    train(net)

Told from the record alone: two parameters of which one was a view of the other, or of which both had elements of one
memory, were copied in library code by one run of a line; or library code converted one buffer twice, for two modules;
or it gave one of two modules that had one and the same parameter another one; or a module was given copies of two
children that had a parameter in common, copied one by one. After that the one was written, and the
other one, which nobody had written, was read; of tied weights that were both replaced, both were stepped and read.
Silent where the tie is made anew before that, where both are kept up, as an average of weights is, where a loaded model
is not trained, and where a statement assigns to the very attribute, as one does who unties on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain
from operator import attrgetter

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.references.partings import Parting, by_copied_children, by_copies, by_replacement
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

CODE = "tie-undone"

_Reads = Callable[[int], list[CallEvent]]
"""The calls that computed something from a memory."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that made two of one."""
    seen: set[Callsite] = set()
    reads = cache(partial(_reads, story))
    for parting in chain(by_copies(story), by_replacement(story), by_copied_children(story)):
        if parting.site in seen:
            continue
        apart = _read_apart if parting.before[1] is not None else _run_apart
        found = apart(story, parting, reads)
        if found is not None:
            seen.add(parting.site)
            yield _hazard(story, parting, *found)


def _read_apart(story: Story, parting: Parting, reads: _Reads) -> tuple[CallEvent | None, CallEvent] | None:
    """For two copies: the first write of the one, and the first read of the other after it, which nobody wrote."""
    for moved, still in (parting.storages, parting.storages[::-1]):
        write = next((w for w in story.writes_to_memory(moved) if w.at > parting.at and w.call is not None), None)
        if write is None:
            continue
        kept = next((w.at for w in story.writes_to_memory(still) if w.at > parting.at), None)
        read = next((call for call in reads(still) if call.index > write.at), None)
        if read is not None and kept is None:
            return write.call, read
    return None


def _run_apart(story: Story, parting: Parting, reads: _Reads) -> tuple[CallEvent | None, CallEvent] | None:
    """For two modules: the first reads of both in one run of the network, after a step of one where both are new."""
    since, step = parting.at, None
    if not parting.differ:
        writes = [write for storage in parting.storages for write in story.writes_to_memory(storage)]
        step = min(
            (w for w in writes if w.at > parting.at and w.site in story.stepping), key=attrgetter("at"), default=None
        )
        if step is None:
            return None
        since = step.at
    one, other = (
        [call for call in reads(storage) if call.modules and _is_within(call.index, since, parting.until)]
        for storage in parting.storages
    )
    for first, second in ((one, other), (other, one)):
        for read in first[:1]:
            again = next((call for call in second if call.index > read.index), None)
            if again is not None and _is_one_run(story, read, again):
                return step.call if step is not None else None, again
    return None


def _is_within(index: int, since: int, until: int | None) -> bool:
    return index > since and (until is None or index < until)


def _is_one_run(story: Story, one: CallEvent, other: CallEvent) -> bool:
    """Whether two calls lie in one run of the outermost module."""
    between = (story.calls.get(index) for index in range(one.index, other.index))
    return all(call is None or call.modules[:1] == other.modules[:1] for call in between)


def _reads(story: Story, storage: int) -> list[CallEvent]:
    """The calls that computed something from a memory, oldest first."""
    reads = (call for call in story.given_memory(storage) if call.kind == "ordinary" and not call.does("copy"))
    return [call for call in reads if any(meta.storage == storage for meta in call.inputs)]


def _hazard(story: Story, parting: Parting, write: CallEvent | None, read: CallEvent) -> Hazard:
    names = [f"`{name}`" for name in _names(story, parting)]
    if parting.before[1] is not None:
        message = _(
            "{parted} copies tensors that were one memory until then one by one ({tensors}), so the copies are two: "
            "{write} writes the one, and {read} reads the other, which does not follow. PyTorch gives no error."
        )
    elif write is None:
        message = _(
            "{parted} gives one of two modules another parameter, where both had one and the same ({tensors}): {read} "
            "reads the one with new values and the other with old ones. PyTorch gives no error."
        )
    else:
        message = _(
            "{parted} gives each of two modules a parameter of its own, where both had one and the same ({tensors}): "
            "{write} trains them apart, and {read} reads both. PyTorch gives no error."
        )
    site = write.callsite if write is not None else None
    return Hazard(
        code=CODE,
        severity="warning",
        message=message.format(
            parted=wording.spot(parting.site),
            tensors=", ".join(names) or _("without names"),
            write=wording.spot(site),
            read=wording.spot(read.callsite),
        ),
        fix=_(
            "Make the tie anew after that line: register the one tensor in both places, or make the views of the new "
            "vector; or load without `assign=True`, which copies the values into the parameters that are there."
        ),
        variable=names[0].strip("`") if names else None,
        mutation=parting.site,
        read=read.callsite,
        read_call=read.index,
        badges=Badges(wrote=_("makes two of one here"), read=_("reads what no longer follows here")),
    )


def _names(story: Story, parting: Parting) -> list[str]:
    """What the two are called: the copied tensors, or where they were one object, what became of it."""
    tensors = [tensor for tensor in parting.before if tensor is not None]
    if len(set(tensors)) == 1:
        on = [story.bindings.by_storage.get(storage, ()) for storage in parting.storages]
        tensors = [next((t for t in met if story.observations[t].is_trainable), met[-1]) for met in on if met]
    found = (story.bindings.name(tensor) for tensor in tensors)
    return list(dict.fromkeys(name for name in found if name))


RULE = Rule(check)
