"""What modules were given, frozen: only what tells something. A module that makes its parameters and keeps them, as all
do, tells nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from inplace_magic.capture.frozen.writes import site_at
from inplace_magic.capture.log import RawIdleStep, RawRegistration
from inplace_magic.record.autograd import IdleStep, Registration
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite


def frozen_registrations(
    raws: Iterable[RawRegistration], calls: Iterable[CallEvent], sites: list[Callsite]
) -> Iterator[Registration]:
    """Yield those of parameters that replaced another one, that were replaced, that several modules were given, or that
    lie where something with a history lay; oldest first."""
    raws = list(raws)
    given = Counter(raw.tensor for raw in raws)
    replaced = {raw.replaced for raw in raws}
    with_history = {out.storage for call in calls for out in call.outputs if out.node is not None} if raws else set()
    for raw in raws:
        met_again = raw.tensor is not None and (raw.tensor in replaced or given[raw.tensor] > 1)
        if raw.replaced is not None or met_again or (raw.storage is not None and raw.storage in with_history):
            site = site_at(raw.site, sites)
            yield Registration(raw.call, site, raw.module, raw.name, raw.tensor, raw.storage, raw.replaced, raw.shared)


def frozen_idle_steps(raws: Iterable[RawIdleStep], sites: list[Callsite]) -> Iterator[IdleStep]:
    """Steps that found no gradient."""
    for raw in raws:
        yield IdleStep(raw.call, site_at(raw.site, sites), raw.optimizer, raw.parameters, raw.held, raw.moved)
