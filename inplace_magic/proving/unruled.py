"""The silent finding that needs no rule: the program's gradients are not those that its forward means.

The program runs twice, as written and with a copy of everything that autograd saves. If the gradients differ, some
saved value was overwritten before backward read it, and PyTorch raised nothing. Further runs find the write: they
replace the changed saved tensors of one write at a time by their copies, and a write is named only if that changes the
gradients. The record has its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story, story_of
from inplace_magic.hazards import Hazard, find_cure, wording
from inplace_magic.hazards.rules.saved_values_changed import CODE
from inplace_magic.language import _, sentences
from inplace_magic.proving.bench import Bench
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite
from inplace_magic.report import Report
from inplace_magic.rerun.saved_copies import ChangedSave

_MOST = 6
"""Number of writes that are tried one by one."""


@dataclass(frozen=True, slots=True)
class _Blamed:
    """The record's facts about a saved tensor whose values changed."""

    number: int
    saver: CallEvent | None = None
    meta: TensorMetadata | None = None
    write: Write | None = None
    """Its first write after the save; None if the record has none."""

    @property
    def site(self) -> Callsite | None:
        return self.write.site if self.write is not None else None


def found(bench: Bench, report: Report) -> list[Hazard]:
    """Return a finding for each write that made gradients silently wrong and has no finding in the report.

    Raises:
        CompareError: the program cannot be run.
        Repeated: as :meth:`.Bench.run`.
    """
    if not bench.wrong_gradients or not bench.is_deterministic:
        return []
    story = story_of(report.trace)
    changed, again = bench.changed_saves()
    blamed = [_blamed(story, again, save) for save in changed]
    groups = grouped((each.site or (each.write.at if each.write is not None else None), each) for each in blamed)
    known = {site for hazard in report.findings if hazard.severity in ("error", "silent") for site in hazard.mutations}
    told = [group[0] for group in _guilty(bench, list(groups.values()))]
    if any(hazard.severity == "silent" and hazard.saved is not None for hazard in report.findings):
        told = [each for each in told if each.site is not None and each.site not in known]
    elif not told:
        told = [_Blamed(0)]  # a parameter that was given other memory: no saved value was written
    return [find_cure(story, _hazard(story, each)) for each in told if each.site not in known]


def _guilty(bench: Bench, groups: Sequence[list[_Blamed]]) -> Iterator[list[_Blamed]]:
    """Yield the saved tensors whose write changed the gradients; all of them if no single write did."""
    alone = len(groups) == 1  # then nothing else can have done it
    single = [group for group in groups[:_MOST] if alone or bench.matters({each.number for each in group})]
    yield from single or groups[:1]


def _blamed(story: Story, again: Sequence[CallEvent], save: ChangedSave) -> _Blamed:
    """Look up a saved tensor in the watch's record, by its position among the call's inputs and outputs."""
    index = save.call - 1
    now = next((call for call in again if call.index == index), None)
    then = story.calls.get(index)
    if now is None or then is None or now.name != then.name or save.address is None:
        return _Blamed(save.number)
    pairs = zip((*now.outputs, *now.inputs), (*then.outputs, *then.inputs), strict=False)
    there = [(new.shape == save.shape, old) for new, old in pairs if new.data_ptr == save.address]
    meta = next((old for _same, old in sorted(there, key=lambda entry: not entry[0])), None)  # `w.t()` is saved of `w`
    if meta is None:
        return _Blamed(save.number, then)
    later = (write for write in story.writes_to_memory(meta.storage) if write.at > index and _meets(write, meta))
    return _Blamed(save.number, then, meta, next(later, None))


def _meets(write: Write, meta: TensorMetadata) -> bool:
    if write.call is None or write.mutation is None:
        return True
    return may_meet(reach_of_write(write.call, write.mutation), region_of(meta))


def _hazard(story: Story, blamed: _Blamed) -> Hazard:
    write, saver, meta = blamed.write, blamed.saver, blamed.meta
    call = write.call if write is not None else None
    name = story.name_written_by(write) if write is not None else None
    name = name or (story.bindings.name(meta.tensor) if meta is not None else None)
    node = next((node.name for node in story.trace.nodes if saver is not None and node.call == saver.index), None)
    saved = saver.callsite if saver is not None else None
    version = meta.version if meta is not None else None
    written = write.mutation.tensor if write is not None and write.mutation is not None else None
    return Hazard(
        code=CODE,
        severity="silent",
        message=_message(name, saved, blamed.site),
        fix=_("Make a new tensor instead of writing this one, or copy it before it is written."),
        variable=name,
        mutation=blamed.site,
        saved=saved,
        saved_by=node,
        expected_version=version,
        found_version=version,
        tensor=written if written is not None or meta is None else meta.tensor,
        call=call.index if call is not None else None,
        saved_call=saver.index if saver is not None else None,
    )


def _message(name: str | None, saved: Callsite | None, site: Callsite | None) -> str:
    tensor = f"`{name}`" if name else _("a tensor")
    if site is not None:
        what = _("{write} overwrote {tensor} after {save} had saved it for backward.")
    elif saved is not None:
        what = _("{save} saved {tensor} for backward, and its values were changed before backward read them.")
    else:
        what = _("A value that autograd had saved was changed before backward read it; the record does not tell which.")
    unnoticed = _(
        "PyTorch did not notice. Found by running: the gradients that the program used are not those of its forward."
    )
    return sentences(what.format(write=wording.spot(site), tensor=tensor, save=wording.spot(saved)), unnoticed)
