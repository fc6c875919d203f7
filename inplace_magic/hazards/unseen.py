"""What is said of an error whose cause, or part of it, the watch did not see: only what the record supports."""

from __future__ import annotations

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.language import _, sentences
from inplace_magic.record.events import CallEvent


def hazard(
    rule: str, story: Story, call: CallEvent, write: Write | None, expected: int | None, found: int | None
) -> Hazard:
    """PyTorch raised, and the watch did not see the save; the write is named where only one fits."""
    where = wording.place(call.callsite)
    variable = None
    if write is not None and write.call is not None and write.mutation is not None:
        variable = story.bindings.written_name(write.call, write.mutation.tensor)
    if write is not None and write.site is not None:
        message = _(
            "Backward at {place} failed because a saved tensor was overwritten; {versions}. The save was not seen, but "
            "one write fits: {write} took {tensor} from version {expected} to {after}."
        ).format(
            place=where,
            versions=wording.versions(expected, found),
            write=wording.spot(write.site),
            tensor=f"`{variable}`" if variable else _("that tensor"),
            expected=expected,
            after=write.after,
        )
        fix = _("Let {line} give a new tensor, or write into a clone.").format(line=wording.line_of(write.site))
    else:
        message = sentences(
            _(
                "Backward at {place} failed because a saved tensor was overwritten; {versions}. It is unknown "
                "which write it was."
            ).format(place=where, versions=wording.versions(expected, found)),
            _reason(story, call),
        )
        fix = (
            _("Put the forward pass and the lines between it and backward into the watched cell.")
            if _is_older(story, call)
            else _(
                "Look for what writes, after the forward pass and before backward, a tensor of the size that PyTorch's "
                "message gives; let it write into a clone."
            )
        )
    site = write.site if write is not None else None
    return Hazard(
        code=rule,
        severity="error",
        message=message,
        fix=fix,
        variable=variable,
        mutation=site,
        expected_version=expected,
        found_version=found,
        tensor=write.mutation.tensor if write is not None and write.mutation is not None else None,
        call=write.call.index if write is not None and write.call is not None else None,
        raised=True,
    )


def elsewhere(rule: str) -> Hazard:
    """The watched code failed with such an error, and no backward that the watch saw raised it."""
    return Hazard(
        code=rule,
        severity="error",
        message=_(
            "The error is about an overwritten saved tensor, but no backward of this watch raised it. It "
            "comes from code outside the watch, such as a process or a thread that the watched lines started."
        ),
        fix=_("Watch that code where it runs: put `with inplace_magic.watch():` into the function that runs there."),
        raised=True,
    )


def _reason(story: Story, call: CallEvent) -> str:
    """Why the watch could not tell, as far as the record says."""
    reached = _reached(story, call)
    if _is_older(story, call):
        return _("A part of the graph is from before the watch began.")
    if any(saved.hooked and saved.node in reached for saved in story.trace.saved):
        return _("Saved-tensor hooks packed the saved tensor, as checkpoint does, so the watch does not know it.")
    return ""


def _is_older(story: Story, call: CallEvent) -> bool:
    """Whether the graph that the backward goes through has nodes that the watch did not see being made."""
    backward = story.backwards.get(call.index)
    if backward is None or story.trace.level == "writes":
        return False  # not known what it went through
    if not backward.roots:
        return True
    return any(
        not story.nodes[number].does("accumulates") and story.saver_site(story.nodes[number])[1] is None
        for number in _reached(story, call)
    )


def _reached(story: Story, call: CallEvent) -> set[int]:
    backward = story.backwards.get(call.index)
    return story.reached(backward.roots) if backward is not None else set()
