"""The sentences of findings. First what happened, with the names and lines of the user's code; then why PyTorch
cares."""

from __future__ import annotations

import re
from dataclasses import replace

from inplace_magic.hazards.finding import Hazard
from inplace_magic.language import N_, _, ngettext, sentences
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import ModuleName
from inplace_magic.record.places import Callsite

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
    if not line:
        return _("code whose source is not there")
    return f"`{line if len(line) <= _MAX_CODE else line[: _MAX_CODE - 1] + '…'}`"


def place(site: Callsite | None) -> str:
    """``Cell In[7], line 4``; with the line that called the helper, where there is one."""
    if site is None:
        return _("a place that the watch did not see")
    around = site.around
    via = around.caller
    if via is None:
        return site.place
    name = around.function.rsplit(".<locals>.", 1)[-1]
    return _("{place}, in `{name}`, called from {caller}").format(place=site.place, name=name, caller=via.place)


def line_of(site: Callsite | None) -> str:
    """The line's code; its place where the code is not known, as after ``python -c``."""
    if site is None:
        return _("an unknown line")
    text = site.statement or site.text
    return code(text) if text.strip() else site.place


def spot(site: Callsite | None) -> str:
    """The line's code and, in brackets, its place."""
    if site is None or (site.statement or site.text).strip():
        return _("{line} ({place})").format(line=line_of(site), place=place(site))
    if site.outdated:
        return place(site)
    if site.caller is None:
        return _("{place} (its source is not there)").format(place=site.place)
    return _("{place} (its source is not there; in `{name}`, called from {caller})").format(
        place=site.place, name=site.function.rsplit(".<locals>.", 1)[-1], caller=site.caller.place
    )


def of_an_older_version(hazard: Hazard) -> Hazard:
    """The finding; with another advice where a line that it is about is no longer what its file holds, since nothing
    can be said of how to change that."""
    places = (hazard.mutation, hazard.saved, hazard.read, hazard.origin, *hazard.mutations)
    older = next((site for site in places if site is not None and site.outdated), None)
    if older is None:
        return hazard
    told = _(
        "Load {file} again (restart the kernel, or `importlib.reload`) and run again: the file was changed "
        "after it was loaded, and {place} is no longer there to be read."
    )
    name = (older.file or "").replace("\\", "/").rsplit("/", 1)[-1]
    return replace(hazard, fix=told.format(file=name, place=older.place), diff="", price_bytes=None)


def forward_name(node: str) -> str:
    """``Sigmoid`` of ``SigmoidBackward0``, and of Paddle's ``SigmoidGradNode``, for a sentence."""
    return re.sub(r"(Backward\d*|GradNode)$", "", node) or node


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
    writes_alone: bool = False,
    module: ModuleName | None = None,
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
    if saved_site is None and writes_alone and module is not None:
        told = _(
            "{done} after {node}, in or after `{module}` ({cls}), had saved it for backward, at a line that level "
            "`writes` does not record."
        )
        kept = told.format(done=done, node=saver, module=module.path, cls=module.cls)
    elif saved_site is None and writes_alone:
        told = _("{done} after {node} had saved it for backward, at a line that level `writes` does not record.")
        kept = told.format(done=done, node=saver)
    elif saved_site is None:
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
    *,
    variable: str | None,
    saved_site: Callsite | None,
    site: Callsite | None,
    writer: CallEvent | None,
    parameter: bool,
) -> str:
    if site is None:
        return _("Find what writes the tensor outside torch's Python functions, and let it write into a clone.")
    line = line_of(site)
    if parameter:
        anew = (
            _("Compute the result again after {line}: a graph can only be used with the values it was built from.")
            if saved_site is None
            else _(
                "Compute the result again after {line} (the forward at {place}): a graph is valid only for "
                "the values it was built from."
            )
        )
        return anew.format(line=line, place=saved_site.place if saved_site is not None else "")
    if not site.direct and writer is not None and (writer.does("takes a flag") or writer.name.endswith("_")):
        return _("Set `inplace=False` on the module that {line} calls, so that it gives a new tensor.").format(
            line=line
        )
    name = variable if variable and re.fullmatch(r"[\w.]+", variable) else None
    if name is not None and (writer is None or not writer.does("of lists")):  # there the line names a list
        return _(
            "Write into a copy: put `{name} = {name}.clone()` before {line}, or use an operation that gives a new "
            "tensor."
        ).format(name=name, line=line)
    return _("Let {line} give a new tensor instead of writing into the saved one (clone it first).").format(line=line)
