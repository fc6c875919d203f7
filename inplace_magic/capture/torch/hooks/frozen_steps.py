"""Steps of optimizers that found no gradient, frozen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inplace_magic.capture.frozen.writes import site_at
from inplace_magic.capture.log import RawIdleStep
from inplace_magic.record.autograd import IdleStep
from inplace_magic.record.places import Callsite


def frozen_idle_steps(raws: Iterable[RawIdleStep], sites: list[Callsite]) -> Iterator[IdleStep]:
    """Steps that found no gradient."""
    for raw in raws:
        yield IdleStep(raw.call, site_at(raw.site, sites), raw.optimizer, raw.parameters, raw.held)
