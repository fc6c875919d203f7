"""What is said of a saved tensor that was overwritten: of one whose save was seen, and of one whose save was not.

Of an error whose cause, or part of it, the watch did not see, only what the record supports is said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.analysis.tree.module_names import module_behind
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.language import N_, _, ngettext, sentences
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.record.refusal import Refusal

CODE = "saved-tensor-overwritten"

_INTACT_RAISED = N_(
    "The write went to other elements, so what was saved is intact. But a tensor and all its views share one version "
    "counter, and PyTorch checks nothing else: {versions}, so it raised."
)
_INTACT_WILL_RAISE = N_(
    "The write went to other elements, so what was saved is intact. But a tensor and all its views share one version "
    "counter, and PyTorch checks nothing else: {versions}, so backward will raise."
)
_CHANGED_RAISED = N_(
    "Backward computes the gradient of {function} from the saved values; {versions}, so PyTorch raised instead of "
    "using wrong numbers."
)
_CHANGED_WILL_RAISE = N_(
    "Backward computes the gradient of {function} from the saved values; {versions}, so PyTorch will raise instead of "
    "using wrong numbers."
)


@dataclass(frozen=True)
class Stale:
    """Something saved at one version and written since."""

    saved: SavedTensor
    node: AutogradNode
    expected: int
    writes: Sequence[Write]

    @property
    def culprit(self) -> Write:
        """The first write after the save."""
        return self.writes[0]

    @property
    def key(self) -> tuple[int, int]:
        """What was written, and when."""
        return self.saved.counter or 0, self.culprit.at

    def written(self, story: Story) -> TensorMetadata | None:
        """Return the tensor that was written first, as it was seen first."""
        mutation = self.culprit.mutation
        return story.observations.get(mutation.tensor) if mutation is not None else None

    def is_intact(self) -> bool:
        """True if every write is known to have gone to other elements than those saved."""
        saved = region_of(self.saved)
        return saved is not None and not any(may_meet(write.reach, saved) for write in self.writes)


def of_a_known_save(story: Story, stale: Stale, found: int | None, *, raised: bool) -> Hazard:
    """The finding of a save that was seen, and of the writes after it."""
    saver, saved_site = story.saver_site(stale.node)
    culprit = stale.culprit
    call, mutation = culprit.call, culprit.mutation
    tensor = mutation.tensor if mutation is not None else stale.saved.tensor
    variable = story.name_of_saved(stale.saved)
    if call is not None and tensor is not None:
        variable = story.bindings.written_name(call, tensor)
    return Hazard(
        code=CODE,
        severity="error",
        message=sentences(_overwritten(story, stale, variable, saved_site), _why(stale, found, raised=raised)),
        fix=_fix(story, stale, variable, saved_site),
        variable=variable,
        mutation=culprit.site,
        saved=saved_site,
        mutations=tuple(write.site for write in stale.writes if write.site is not None),
        saved_by=stale.node.name,
        expected_version=stale.expected,
        found_version=found,
        tensor=tensor,
        call=call.index if call is not None else None,
        saved_call=saver.index if saver is not None else None,
        raised=raised,
    )


def _overwritten(story: Story, stale: Stale, variable: str | None, saved_site: Callsite | None) -> str:
    saved, site = stale.saved, stale.culprit.site
    what = f"`{variable}`" if variable else _("A tensor without a name of its own")
    saved_name = story.bindings.name(saved.tensor) if saved.tensor is not None else None
    if saved_name and variable and saved_name != variable:
        what = _("`{variable}` (the memory of `{saved}`)").format(variable=variable, saved=saved_name)
    if site is None:
        done = _("{tensor} was overwritten at a place that the watch did not see").format(tensor=what)
    else:
        done = _("{tensor} was overwritten by {write}").format(tensor=what, write=wording.spot(site))
    more = len(stale.writes) - 1
    if more:
        again = ngettext("{done} and {count} more time", "{done} and {count} more times", more)
        done = again.format(done=done, count=more)
    writes_alone = story.trace.level == "writes"
    module = module_behind(story.trace, stale.node) if writes_alone and saved_site is None else None
    if saved_site is not None:
        said = _("{done} after {save} had saved it for backward, in {node}.")
    elif module is not None:
        said = _(
            "{done} after {node}, in or after `{module}` ({cls}), had saved it for backward, at a line that level "
            "`writes` does not record."
        )
    elif writes_alone:
        said = _("{done} after {node} had saved it for backward, at a line that level `writes` does not record.")
    else:
        said = _("{done} after {node} had saved it for backward before this watch began.")
    path, cls = (module.path, module.cls) if module is not None else ("", "")
    return said.format(done=done, save=wording.spot(saved_site), node=stale.node.name, module=path, cls=cls)


def _why(stale: Stale, found: int | None, *, raised: bool) -> str:
    if stale.is_intact():
        why = _INTACT_RAISED if raised else _INTACT_WILL_RAISE
    else:
        why = _CHANGED_RAISED if raised else _CHANGED_WILL_RAISE
    function = wording.forward_name(stale.node.name)
    return _(why).format(function=function, versions=_versions(stale.expected, found))


def _fix(story: Story, stale: Stale, variable: str | None, saved_site: Callsite | None) -> str:
    site, writer, written = stale.culprit.site, stale.culprit.call, stale.written(story)
    if site is None:
        return _("Find what writes the tensor outside torch's Python functions, and let it write into a clone.")
    named = variable is not None and re.fullmatch(r"[\w.]+", variable) is not None
    of_lists = writer is not None and writer.does("of lists")  # there the line names a list
    in_a_module = not site.direct and writer is not None
    if written is not None and written.is_trainable and saved_site is None:
        said = _("Compute the result again after {line}: a graph can only be used with the values it was built from.")
    elif written is not None and written.is_trainable:
        said = _(
            "Compute the result again after {line} (the forward at {place}): a graph is valid only for the values it "
            "was built from."
        )
    elif in_a_module and writer is not None and (writer.does("takes a flag") or writer.name.endswith("_")):
        said = _("Set `inplace=False` on the module that {line} calls, so that it gives a new tensor.")
    elif named and not of_lists:
        said = _(
            "Write into a copy: put `{name} = {name}.clone()` before {line}, or use an operation that gives a new "
            "tensor."
        )
    else:
        said = _("Let {line} give a new tensor instead of writing into the saved one (clone it first).")
    place = saved_site.place if saved_site is not None else ""
    return said.format(line=wording.line_of(site), place=place, name=variable)


def of_an_unseen_save(story: Story, call: CallEvent, write: Write | None, refusal: Refusal) -> Hazard:
    """PyTorch raised, and the watch did not see the save; the write is named where only one fits."""
    expected, found = refusal.expected, refusal.found
    failed = _("Backward at {place} failed because a saved tensor was overwritten; {versions}.")
    failed = failed.format(place=wording.place(call.callsite), versions=_versions(expected, found))
    variable = story.name_written_by(write) if write is not None else None
    if write is not None and write.site is not None:
        fits = _("The save was not seen, but one write fits: {write} took {tensor} from version {expected} to {after}.")
        tensor, spot = f"`{variable}`" if variable else _("that tensor"), wording.spot(write.site)
        message = sentences(failed, fits.format(write=spot, tensor=tensor, expected=expected, after=write.after))
        fix = _("Let {line} give a new tensor, or write into a clone.").format(line=wording.line_of(write.site))
    else:
        message = sentences(failed, _("It is unknown which write it was."), _reason(story, call))
        fix = _(
            "Look for what writes, after the forward pass and before backward, a tensor of the size that PyTorch's "
            "message gives; let it write into a clone."
        )
        if _is_older(story, call):
            fix = _("Put the forward pass and the lines between it and backward into the watched cell.")
    site = write.site if write is not None else None
    return Hazard(
        code=CODE,
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


def of_another_thread() -> Hazard:
    """The watched code failed with such an error, and no backward that the watch saw raised it."""
    return Hazard(
        code=CODE,
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
    if _is_older(story, call):
        return _("A part of the graph is from before the watch began.")
    reached = story.reached_by(call.index)
    if any(saved.hooked and saved.node in reached for saved in story.trace.saved):
        return _("Saved-tensor hooks packed the saved tensor, as checkpoint does, so the watch does not know it.")
    return ""


def _is_older(story: Story, call: CallEvent) -> bool:
    """True if the graph that the backward goes through has nodes that the watch did not see being made."""
    backward = story.backwards.get(call.index)
    if backward is None or story.trace.level == "writes":
        return False  # not known what it went through
    if not backward.roots:
        return True
    nodes = (story.nodes[number] for number in story.reached_by(call.index))
    return any(not node.does("accumulates") and story.saver_site(node)[1] is None for node in nodes)


def _versions(expected: int | None, found: int | None) -> str:
    if expected is None or found is None:
        return _("the version of the tensor has moved on")
    return _("it expects version {expected} and finds version {found}").format(found=found, expected=expected)
