"""What level ``writes`` kept -> a trace: of a failed backward the node that refused, and the writes that broke it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import torch

from inplace_magic.capture.frozen.writes import not_followed, site_at
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch.traits import node_traits
from inplace_magic.capture.torch.writes.probe import RawFailure, WriteProbe
from inplace_magic.record.autograd import Backward
from inplace_magic.record.blindness import WRITES_FORGOTTEN, WRITES_INCOMPLETE, WRITES_NOT_TOLD, WRITES_SAVER
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.source.places import Sources


def written_trace(
    probe: WriteProbe, recorder: Recorder, sources: Sources, blindness: Iterable[str], error: str | None
) -> Trace:
    """Return the trace of the newest failure that is the error which left the block, else of the newest one.

    Args:
        recorder: where.
        error: what the watched block raised, as text.
    """
    sites = recorder.sites.resolve(sources)
    fitting = [failure for failure in probe.failures if failure.error == error] or list(probe.failures)
    made = _trace_of(fitting[-1], sites) if fitting else Trace()
    beside = recorder.log.beside
    return replace(
        made,
        sources=sources.texts(),
        blindness=(*made.blindness, *blindness, *not_followed(beside, sources)),
        threads_started=beside.threads,
        faults=tuple(recorder.log.faults),
        level="writes",
        torch_version=torch.__version__,
    )


def _trace_of(failure: RawFailure, sites: list[Callsite]) -> Trace:
    refusal, end, saved = failure.refusal, len(failure.writes), failure.saved
    shape = None if saved is None else saved.shape
    seen = TensorMetadata(1, None, storage=1, counter=1, shape=shape, requires_grad=True, is_leaf=False)
    calls = []
    before = refusal.expected
    for index, write in enumerate(failure.writes):
        before = write.version - 1 if not failure.whole or index else before
        given, after = replace(seen, version=before), replace(seen, version=write.version)
        calls.append(
            CallEvent(
                index=index,
                name=write.facts.name,
                kind="in-place",
                callsite=site_at(write.site, sites),
                inputs=(given,),
                outputs=(after,),
                mutations=(Mutation(1, before, write.version, storage=1, counter=1),),
                mutated=(after,),
                sequence=write.sequence,
                traits=write.facts.traits,
            )
        )
    calls.append(
        CallEvent(
            index=end,
            name=failure.facts.name,
            kind="query",
            callsite=site_at(failure.site, sites),
            error=failure.error,
            refusal=refusal,
            traits=failure.facts.traits,
        )
    )
    return Trace(
        calls=tuple(calls),
        nodes=tuple([replace(node, traits=node_traits(node.name)) for node in failure.behind.nodes]),
        names=failure.behind.names,
        module_names=failure.behind.modules,
        saved=() if saved is None else (saved,),
        backwards=(Backward(end, () if saved is None else (saved.node,)),),
        blindness=tuple(_not_known(failure)),
    )


def _not_known(failure: RawFailure) -> Iterator[str]:
    if failure.saved is None:
        yield WRITES_NOT_TOLD
        return
    if not failure.whole:
        yield WRITES_FORGOTTEN if failure.forgotten else WRITES_INCOMPLETE
    yield WRITES_SAVER.format(node=failure.behind.nodes[0].name)
