"""The sentences of findings. First what happened, with the names and lines of the user's code; then why PyTorch
cares."""

from __future__ import annotations

import re

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard
from inplace_magic.trace import CallEvent, Callsite

_MAX_CODE = 70


def code(text: str) -> str:
    """Source for use within a sentence: on one line, not too long, in backticks."""
    line = re.sub(r"\s+", " ", text).strip()
    return f"`{line if len(line) <= _MAX_CODE else line[: _MAX_CODE - 1] + '…'}`"


def place(site: Callsite | None) -> str:
    """``Cell In[7], line 4``; with the line that called the helper, where there is one."""
    if site is None:
        return "a place that the watch did not see"
    via = site.caller
    if via is None:
        return site.place
    name = site.function.rsplit(".<locals>.", 1)[-1]
    return f"{site.place}, in `{name}`, called from {via.place}"


def line_of(site: Callsite | None) -> str:
    """The line's code."""
    return code(site.statement or site.text) if site is not None else "an unknown line"


def forward_name(node: str) -> str:
    """``sigmoid`` of ``SigmoidBackward0``, for a sentence."""
    return re.sub(r"Backward\d*$", "", node) or node


def versions(expected: int | None, found: int | None) -> str:
    if expected is None or found is None:
        return "its version has moved on"
    return f"it is at version {found}, and backward expects version {expected}"


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
    what = f"`{variable}`" if variable else "A tensor without a name of its own"
    also = f" (the memory of `{saved_name}`)" if saved_name and variable and saved_name != variable else ""
    if site is None:
        done = f"{what}{also} was overwritten at a place that the watch did not see"
    else:
        done = f"{what}{also} was overwritten by {line_of(site)} ({place(site)})"
    if writes > 1:
        done += f" and {writes - 1} more time{'s' if writes > 2 else ''}"
    if saved_site is None:
        kept = f"after {saver} had saved it for backward before this watch began."
    else:
        kept = f"after {line_of(saved_site)} ({place(saved_site)}) had saved it for backward, in {saver}."
    then = "raised" if raised else "will raise when backward comes there"
    if intact:
        why = (
            "The write went to other elements, so what was saved is intact; but a tensor and all its views share one "
            f"version counter, and PyTorch looks at nothing else: {versions(expected, found)}, so it {then}."
        )
    else:
        why = (
            f"The gradient of {forward_name(saver)} is computed from the values of that moment; "
            f"{versions(expected, found)}, so PyTorch {then} instead of using wrong numbers."
        )
    return f"{done} {kept} {why}"


def overwritten_fix(
    *, variable: str | None, saved_site: Callsite | None, site: Callsite | None, writer: str, parameter: bool
) -> str:
    if site is None:
        return "Find what writes the tensor outside torch's Python functions, and let it write into a clone."
    line = line_of(site)
    if parameter:
        again = f" (the forward at {saved_site.place})" if saved_site is not None else ""
        return (
            f"Run backward before {line}, or compute the result anew after it{again}: a graph can only be used with "
            "the parameter values it was built from."
        )
    if not site.direct and (writer.startswith("F.") or writer.endswith("_")):
        return f"Set `inplace=False` on the module that {line} calls, so that it gives a new tensor."
    name = variable if variable and re.fullmatch(r"[\w.]+", variable) else None
    if name is not None:
        return (
            f"Write into a copy: put `{name} = {name}.clone()` before {line}, or use an operation that gives a new "
            "tensor."
        )
    return f"Let {line} give a new tensor instead of writing into the saved one (clone it first)."


def unknown_saver(
    rule: str,
    story: Story,
    call: CallEvent | None,
    write: Write | None,
    expected: int | None,
    found: int | None,
) -> Hazard:
    """PyTorch raised, and the watch did not see the save; the write is named where only one fits."""
    where = place(call.callsite) if call is not None else "the cell"
    variable = None
    if write is not None and write.call is not None and write.mutation is not None:
        variable = story.bindings.written_name(write.call, write.mutation.tensor)
    if write is not None and write.site is not None:
        what = f"`{variable}`" if variable else "that tensor"
        message = (
            f"Backward at {where} failed because a saved tensor was overwritten; {versions(expected, found)}. The "
            "save was "
            f"not seen, but one write fits: {line_of(write.site)} ({place(write.site)}) took {what} from version "
            f"{expected} to {write.after}."
        )
        fix = f"Let {line_of(write.site)} give a new tensor, or write into a clone."
    else:
        message = (
            f"Backward at {where} failed because a saved tensor was overwritten; {versions(expected, found)}. The "
            "watch did "
            "not see who wrote it: it happened before the watch began, on another thread, or outside torch's functions."
        )
        fix = "Put the forward pass and the lines between it and backward into the watched cell."
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
