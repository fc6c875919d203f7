"""A view was written that autograd cannot follow.

Writing a view writes its base, so PyTorch must rewrite the history of the base. For some views it cannot: those of a
function that gives several views at once (``chunk``, ``split``, ``unbind``), where each would need the others'
history; and those made under ``no_grad`` or ``inference_mode``, about which nothing was recorded. It refuses with "…
is a view and is being modified inplace" or "A view was created in no_grad mode and is being modified inplace with
grad mode enabled" (torch/csrc/autograd/variable.cpp, ``handle_view_on_rebase``).

Bad::

    a, b = x.chunk(2)
    a += b                          # raises

Good::

    a = a + b
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.trace import CallEvent, Callsite

MULTI_OUTPUT = "multi-output-view-written"
NO_GRAD = "no-grad-view-written"
CUSTOM = "custom-function-view-written"

_VIEW = re.compile(r"(?:Output \d+ of (\w+) is a view|A view was created in (no_grad|inference) mode)")
_SEVERAL = re.compile(r"function that returns multiple views")
_WRITES = re.compile(r"modified inplace")

_WHY = {
    MULTI_OUTPUT: "{maker} gives several views of one tensor at once; PyTorch cannot rewrite the history of one "
    "of them without "
    "the others, so it refused.",
    NO_GRAD: "The view was made while recording was off ({maker}), so PyTorch does not know its history and "
    "cannot record a "
    "write through it.",
    CUSTOM: "The view was made inside a custom Function or a hook ({maker}), whose gradient PyTorch could no "
    "longer keep right "
    "after a write, so it refused.",
}


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place where PyTorch refused such a write."""
    seen = set()
    for call, text in story.failures():
        match = _VIEW.search(text)
        if match is None or call is None or not _WRITES.search(text) or call.callsite in seen:
            continue
        seen.add(call.callsite)
        code = NO_GRAD if match[2] else MULTI_OUTPUT if _SEVERAL.search(text) else CUSTOM
        view = call.inputs[0] if call.inputs else None
        variable = story.bindings.written_name(call, view.tensor) if view is not None else None
        made = story.innermost_new(view.tensor, call.index) if view is not None else None
        origin = made.callsite if made is not None else None
        yield Hazard(
            code=code,
            severity="error",
            message=_message(code, variable, call, origin, match[1] or f"{match[2]} mode"),
            fix=_fix(code, variable, call, origin),
            variable=variable,
            mutation=call.callsite,
            mutations=(call.callsite,) if call.callsite is not None else (),
            origin=origin,
            tensor=view.tensor if view is not None else None,
            call=call.index,
            raised=True,
        )


def _message(code: str, variable: str | None, call: CallEvent, origin: Callsite | None, maker: str) -> str:
    what = f"`{variable}`" if variable else "A tensor"
    born = f", taken by {wording.line_of(origin)} ({wording.place(origin)})" if origin is not None else ""
    return (
        f"{wording.line_of(call.callsite)} ({wording.place(call.callsite)}) writes {what} in place, and {what} is "
        f"a view{born}. " + _WHY[code].format(maker=maker)
    )


def _fix(code: str, variable: str | None, call: CallEvent, origin: Callsite | None) -> str:
    name = variable or "the view"
    line = wording.line_of(call.callsite)
    if code == NO_GRAD:
        taken = f" ({wording.line_of(origin)})" if origin is not None else ""
        return (
            f"Take the view with recording on{taken}, outside `no_grad`; or, if no gradient is wanted, put {line} "
            "under "
            "`torch.no_grad()` and detach what it writes."
        )
    return (
        f"Give a new tensor instead of writing the view: turn {line} into its out-of-place form, or use "
        f"`{name}.clone()`."
    )
