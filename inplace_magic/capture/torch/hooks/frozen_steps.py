"""Steps of optimizers and the modules seen then, frozen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inplace_magic.capture.frozen.writes import site_at
from inplace_magic.capture.log import RawIdleStep, RawSighting
from inplace_magic.record.autograd import IdleStep
from inplace_magic.record.places import Callsite
from inplace_magic.record.training import ModuleSighting


def frozen_idle_steps(raws: Iterable[RawIdleStep], sites: list[Callsite]) -> Iterator[IdleStep]:
    """Steps that found no gradient."""
    for raw in raws:
        yield IdleStep(raw.call, site_at(raw.site, sites), raw.optimizer, raw.parameters, raw.held)


def frozen_sightings(raws: Iterable[RawSighting], sites: list[Callsite]) -> Iterator[ModuleSighting]:
    """Where a path was first seen to lead to a module."""
    for raw in raws:
        place = site_at(raw.site, sites)
        if place is not None:
            yield ModuleSighting(raw.call, place, raw.path, raw.module, raw.cls, raw.holder, raw.since, raw.parameters)
