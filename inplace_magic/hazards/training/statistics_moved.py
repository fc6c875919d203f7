"""A pass that only measured was made in training mode, and moved the statistics by which a layer normalises.

``torch.no_grad()`` keeps the graph from being recorded, and nothing else: BatchNorm in training mode takes every batch
into its running statistics (https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html), those of a
validation too, and evaluation normalises by the mixture.

Bad::

    with torch.no_grad():
        for x, y in held_out:
            losses.append(loss_of(model(x), y).item())      # the model is still in training mode

Good::

    model.eval()
    with torch.no_grad():
        for x, y in held_out:
            losses.append(loss_of(model(x), y).item())
    model.train()

Told from the record alone: a layer took batches into its statistics while gradients were recorded, then one without
them, then one with them again, and later normalised by those statistics, which nobody had put back; and of what was
computed from the one without gradients a number was read, and nothing went into a graph. Silent for a pass whose
results are thrown away, as ``update_bn`` makes it to move the statistics, and for one that feeds another network, as a
generator and a teacher do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.analysis.training.statistics import Normalised, normalising_calls
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.places import Callsite

CODE = "statistics-moved"


@dataclass(frozen=True)
class _Measured:
    """A pass without gradients after a pass with gradients."""

    ran: Normalised
    at: int
    """Its number among the calls that normalise by the same memory."""
    site: Callsite
    """The line that made it, and none that the passes with gradients came by as well."""
    read: Normalised | None = None
    """The call that normalised by what it had left."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that runs the model so."""
    normalised = normalising_calls(story)
    by_memory: dict[int, list[Normalised]] = {}
    for one in normalised:
        by_memory.setdefault(one.statistics[0], []).append(one)
    suspects: dict[Callsite, _Measured] = {}
    passes: dict[int, Callsite] = {}
    for ran in by_memory.values():
        if not all(one.takes_in for one in ran):
            for measured in _between_trainings(ran):
                passes[measured.ran.call.index] = measured.site
                if measured.site not in suspects and (read := _read_of_the_mixture(story, ran, measured.at)):
                    suspects[measured.site] = replace(measured, read=read)
    measuring = _that_only_measure(story, passes) if suspects else set()
    for suspect in sorted(suspects.values(), key=lambda suspect: suspect.ran.call.index):
        if suspect.site in measuring:
            yield _hazard(story, suspect)


def _between_trainings(ran: list[Normalised]) -> Iterator[_Measured]:
    """The passes without gradients through one memory that come after one with gradients."""
    trained: Normalised | None = None
    for at, one in enumerate(ran):
        if one.takes_in and _has_gradient(one):
            trained = one
        elif one.takes_in and trained is not None:
            site = _site_apart(one.call.callsite, trained.call.callsite)
            if site is not None:
                yield _Measured(one, at, site)


def _read_of_the_mixture(story: Story, ran: list[Normalised], at: int) -> Normalised | None:
    """The first call that normalised by what a pass had left, where training had gone on from there and nobody had put
    the statistics back."""
    writes = story.writes_to_memory(ran[at].statistics[0])
    trained = False
    for one in islice(ran, at + 1, None):
        if one.takes_in:
            trained = trained or _has_gradient(one)
        elif trained:
            since, until = (bisect_right(writes, call.index, key=attrgetter("at")) for call in (ran[at].call, one.call))
            between = islice(writes, since, until)
            put_back = any(write.call is None or write.call.does("overwrites") for write in between)
            return None if put_back else one
    return None


def _site_apart(measured: Callsite | None, trained: Callsite | None) -> Callsite | None:
    """The innermost line by which the one pass came and the other one did not."""
    while measured is not None and trained is not None and measured.same_line(trained):
        measured, trained = measured.caller, trained.caller
    return measured


def _has_gradient(one: Normalised) -> bool:
    return any(meta.requires_grad for meta in one.call.outputs)


def _that_only_measure(story: Story, passes: dict[int, Callsite]) -> set[Callsite]:
    """The lines of passes from whose results a number was read, and nothing of which went into a graph."""
    carried: dict[int, set[Callsite]] = {}
    read: set[Callsite] = set()
    fed: set[Callsite] = set()
    for call in story.trace.calls:
        from_here: set[Callsite] = set()
        for meta in call.inputs:
            if meta.storage in carried:
                from_here |= carried[meta.storage]
        if call.index in passes:
            from_here.add(passes[call.index])
        if not from_here:
            continue
        if call.does("reads values") or call.does("gives array"):
            read |= from_here
        if any(meta.requires_grad for meta in (*call.outputs, *call.mutated)):
            fed |= from_here
            continue
        behind = {meta.storage for meta in call.outputs}
        statistics = {mutation.storage for mutation in call.mutations} if call.outputs and call.index in passes else ()
        behind |= {mutation.storage for mutation in call.mutations if mutation.storage not in statistics}
        for storage in behind:
            if storage is not None:
                carried.setdefault(storage, set()).update(from_here)
    return read - fed


def _hazard(story: Story, measured: _Measured) -> Hazard:
    call, mutation = measured.ran.call, measured.ran.call.mutations[0]
    name = story.bindings.name(mutation.tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} runs without gradients and in training mode, so it takes the batch that it measures into "
            "{statistics}, among those of the training; {read} normalises by the mixture. PyTorch gives no error."
        ).format(
            line=wording.spot(measured.site),
            read=wording.spot(measured.read.call.callsite if measured.read is not None else None),
            statistics=f"`{name}`" if name else _("running statistics"),
        ),
        fix=_("Put the model into evaluation mode to measure (`model.eval()`), and back to train (`model.train()`)."),
        variable=name,
        read=measured.read.call if measured.read is not None else None,
        tensor=mutation.tensor,
        write=Write(mutation.version_before, mutation.version_after, call.index, call, mutation, measured.site),
    )


RULE = Rule(check)
