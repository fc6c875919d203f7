"""The sentences of findings. First what happened, with the names and lines of the user's code; then why PyTorch
cares."""

from __future__ import annotations

import re

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard
from inplace_magic.language import N_, _, ngettext, sentences
from inplace_magic.trace import CallEvent, Callsite

VERSION_ERROR = "has been modified by an inplace operation"
"""How PyTorch's version check speaks."""

_MAX_CODE = 70

_INTACT_RAISED = N_(
    "The write went to other elements, so what was saved is intact; but a tensor and all its views share one "
    "version counter, and PyTorch looks at nothing else: {versions}, so it raised."
)
_INTACT_WILL_RAISE = N_(
    "The write went to other elements, so what was saved is intact; but a tensor and all its views share one "
    "version counter, and PyTorch looks at nothing else: {versions}, so it will raise when backward comes there."
)
_CHANGED_RAISED = N_(
    "The gradient of {function} is computed from the values of that moment; {versions}, so PyTorch raised instead of "
    "using wrong numbers."
)
_CHANGED_WILL_RAISE = N_(
    "The gradient of {function} is computed from the values of that moment; {versions}, so PyTorch will raise when "
    "backward comes there instead of using wrong numbers."
)


def code(text: str) -> str:
    """Source for use within a sentence: on one line, not too long, in backticks."""
    line = re.sub(r"\s+", " ", text).strip()
    return f"`{line if len(line) <= _MAX_CODE else line[: _MAX_CODE - 1] + '…'}`"


def place(site: Callsite | None) -> str:
    """``Cell In[7], line 4``; with the line that called the helper, where there is one."""
    if site is None:
        return _("a place that the watch did not see")
    via = site.caller
    if via is None:
        return site.place
    name = site.function.rsplit(".<locals>.", 1)[-1]
    return _("{place}, in `{name}`, called from {caller}").format(place=site.place, name=name, caller=via.place)


def line_of(site: Callsite | None) -> str:
    """The line's code."""
    return code(site.statement or site.text) if site is not None else _("an unknown line")


def spot(site: Callsite | None) -> str:
    """The line's code and, in brackets, its place."""
    return _("{line} ({place})").format(line=line_of(site), place=place(site))


def forward_name(node: str) -> str:
    """``sigmoid`` of ``SigmoidBackward0``, for a sentence."""
    return re.sub(r"Backward\d*$", "", node) or node


def versions(expected: int | None, found: int | None) -> str:
    if expected is None or found is None:
        return _("its version has moved on")
    return _("it is at version {found}, and backward expects version {expected}").format(found=found, expected=expected)


def overwritten(
    *,
    variable: str | None,
    saved_name: str | None,
    saver: str,
    saved_site: Callsite | None,
    site: Callsite | None,
    writes: int,
    expected: int | None,
    found: int | None,
    raised: bool,
    intact: bool,
) -> str:
    what = f"`{variable}`" if variable else _("A tensor without a name of its own")
    if saved_name and variable and saved_name != variable:
        what = _("`{variable}` (the memory of `{saved}`)").format(variable=variable, saved=saved_name)
    if site is None:
        done = _("{tensor} was overwritten at a place that the watch did not see").format(tensor=what)
    else:
        done = _("{tensor} was overwritten by {write}").format(tensor=what, write=spot(site))
    if writes > 1:
        again = ngettext("{done} and {count} more time", "{done} and {count} more times", writes - 1)
        done = again.format(done=done, count=writes - 1)
    if saved_site is None:
        kept = _("{done} after {node} had saved it for backward before this watch began.").format(done=done, node=saver)
    else:
        kept = _("{done} after {save} had saved it for backward, in {node}.").format(
            done=done, save=spot(saved_site), node=saver
        )
    if intact:
        why = _INTACT_RAISED if raised else _INTACT_WILL_RAISE
    else:
        why = _CHANGED_RAISED if raised else _CHANGED_WILL_RAISE
    return sentences(kept, _(why).format(function=forward_name(saver), versions=versions(expected, found)))


def overwritten_fix(
    *, variable: str | None, saved_site: Callsite | None, site: Callsite | None, writer: str, parameter: bool
) -> str:
    if site is None:
        return _("Find what writes the tensor outside torch's Python functions, and let it write into a clone.")
    line = line_of(site)
    if parameter:
        if saved_site is None:
            return _(
                "Run backward before {line}, or compute the result anew after it: a graph can only be used with the "
                "parameter values it was built from."
            ).format(line=line)
        return _(
            "Run backward before {line}, or compute the result anew after it (the forward at {place}): a graph can "
            "only be used with the parameter values it was built from."
        ).format(line=line, place=saved_site.place)
    if not site.direct and (writer.startswith("F.") or writer.endswith("_")):
        return _("Set `inplace=False` on the module that {line} calls, so that it gives a new tensor.").format(
            line=line
        )
    name = variable if variable and re.fullmatch(r"[\w.]+", variable) else None
    if name is not None and "_foreach_" not in writer:  # there the line names a list
        return _(
            "Write into a copy: put `{name} = {name}.clone()` before {line}, or use an operation that gives a new "
            "tensor."
        ).format(name=name, line=line)
    return _("Let {line} give a new tensor instead of writing into the saved one (clone it first).").format(line=line)


def unknown_saver(
    rule: str,
    story: Story,
    call: CallEvent | None,
    write: Write | None,
    expected: int | None,
    found: int | None,
) -> Hazard:
    """PyTorch raised, and the watch did not see the save; the write is named where only one fits."""
    where = place(call.callsite) if call is not None else _("the cell")
    variable = None
    if write is not None and write.call is not None and write.mutation is not None:
        variable = story.bindings.written_name(write.call, write.mutation.tensor)
    if write is not None and write.site is not None:
        message = _(
            "Backward at {place} failed because a saved tensor was overwritten; {versions}. The save was not seen, but "
            "one write fits: {write} took {tensor} from version {expected} to {after}."
        ).format(
            place=where,
            versions=versions(expected, found),
            write=spot(write.site),
            tensor=f"`{variable}`" if variable else _("that tensor"),
            expected=expected,
            after=write.after,
        )
        fix = _("Let {line} give a new tensor, or write into a clone.").format(line=line_of(write.site))
    else:
        message = _(
            "Backward at {place} failed because a saved tensor was overwritten; {versions}. The watch did not see who "
            "wrote it: it happened before the watch began, on another thread, or outside torch's functions."
        ).format(place=where, versions=versions(expected, found))
        fix = _("Put the forward pass and the lines between it and backward into the watched cell.")
    site = write.site if write is not None else None
    return Hazard(
        code=rule,
        severity="error",
        message=message,
        fix=fix,
        variable=variable,
        mutation=site,
        mutations=(site,) if site is not None else (),
        expected_version=expected,
        found_version=found,
        tensor=write.mutation.tensor if write is not None and write.mutation is not None else None,
        call=write.call.index if write is not None and write.call is not None else None,
        raised=True,
    )
