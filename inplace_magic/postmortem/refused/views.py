"""Errors about views that autograd cannot follow, about tensors of inference mode, and about overlapping memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inplace_magic.capture.torch.describe import is_view
from inplace_magic.language import N_, _
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.graph import memory_of
from inplace_magic.postmortem.refused import words
from inplace_magic.postmortem.refused.about import Subject, about, origin_of, subject_of
from inplace_magic.postmortem.refused.facts import is_tensor, made_in_inference_mode, repeats_elements
from inplace_magic.postmortem.refused.history import Bound, History, Step
from inplace_magic.postmortem.refused.lines import writes_in
from inplace_magic.record.answer import Answer
from inplace_magic.record.refusal import WHY

_HOOKED = "BackwardHookFunction"
"""The custom Function by which a full backward hook of a module sees gradients."""
_OF_BASE = r"and its base or another view of its base has been modified inplace"
_MODE = r"A view was created in (?P<mode>no_grad|inference) mode "
_NODE = r"Output \d+ of (?P<node>\w+?)(?:Backward\d*)? is a view "
_NO_GRAD = "no-grad-view-written"
_WRITES = N_("{line} writes {tensor}, a view, in place.")
_NEW = N_(
    "Give a new tensor instead of writing the view: turn {line} into its out-of-place form, or use `{name}.clone()`."
)


def _maker(failure: Failure, tensor: Any) -> dict[str, str]:
    groups = failure.match.groupdict()
    if groups.get("mode"):
        return {"maker": _("{mode} mode").format(mode=groups["mode"])}
    return {"maker": groups.get("node") or _("unknown")}


def _of_a_hook(failure: Failure, subject: Subject, made: Bound | None) -> str | None:
    if failure.match["node"] != _HOOKED:
        return None
    return _(
        "A full backward hook hands a module's input and output through such a Function. Make the operation that "
        "follows out-of-place (`inplace=False`), or clone the output first."
    )


def explain_base_written(failure: Failure) -> Answer:
    """Return the line that wrote the memory behind a view which the failing line uses."""
    history = History(failure)
    used = subject_of(history, is_view)
    made = origin_of(history, used) if used is not None else None
    writes = list(_writes_of(history, used, made)) if used is not None else []
    sites = list(dict.fromkeys(history.site(step) for _, step in writes))
    path = writes[0][0] if writes else None
    name = path or _("it")
    wrote = sites[0] if sites else None
    text = _("{use} uses a view of a tensor that was written after the view was taken.")
    text = text if wrote is None else _("{line} wrote {tensor}, and {use} then used a view of it.")
    return words.answer(
        failure,
        text.format(line=words.spot(wrote), tensor=words.tensor(path), use=words.spot(failure.place)),
        failure.why.format(**_maker(failure, None)),
        sites=sites,
        certain=len(sites) == 1 and writes[0][1].sure,
        name=path,
        fix=_("Write before the views are taken, or into a copy: `{name} = {name}.clone()` before {line}.").format(
            name=name, line=words.line_of(wrote)
        ),
    )


def _writes_of(history: History, used: Subject, made: Bound | None) -> Iterator[tuple[str | None, Step]]:
    """(path, statement) of the writes into a tensor's memory since its name was given, the latest first."""
    memory = memory_of(used.tensor)
    for path, tensor, step in writes_in(history, used.frame, made.step if made is not None else None):
        there = memory_of(tensor) if is_tensor(tensor) else None
        if there is not None and memory is not None and there.storage == memory.storage:
            yield path, step


VIEWS: tuple[Kind, ...] = (
    Kind(
        "base-of-multi-output-view-written",
        f"{_NODE}{_OF_BASE}",
        explain_base_written,
        N_(
            "Several views of it had been taken at once (`split`, `chunk`, `unbind`, a loop over a tensor). After a "
            "write to their base PyTorch no longer knows the history of each view, and refused when one was used."
        ),
    ),
    Kind(_NO_GRAD, f"{_MODE}{_OF_BASE}", explain_base_written, WHY["view made without recording written"]),
    about(
        "multi-output-view-written",
        rf"{_NODE}(?=.*function that returns multiple views)",
        is_view,
        _WRITES,
        N_(
            "It is one of several views that one operation returned at once (`split`, `chunk`, `unbind`, a loop over a "
            "tensor), or a view of one. PyTorch cannot rewrite the history of one of them without the others, so it "
            "refused."
        ),
        _NEW,
        facts=_maker,
    ),
    about(
        "custom-function-view-written",
        rf"{_NODE}(?=.*inside a custom Function)",
        is_view,
        _WRITES,
        WHY["view of a custom function written"],
        _NEW,
        facts=_maker,
        cure=_of_a_hook,
    ),
    about(
        _NO_GRAD,
        _MODE,
        is_view,
        _WRITES,
        WHY["view made without recording written"],
        N_(
            "Take the view with recording on, outside `no_grad`; or, if no gradient is wanted, put {line} under "
            "`torch.no_grad()` and detach the written tensor."
        ),
        facts=_maker,
    ),
    about(
        "view-detached-in-place",
        r"Can't detach views in-place",
        is_view,
        N_("{line} detaches {tensor}, a view, in place."),
        WHY["view detached in place"],
        N_("Bind a detached tensor instead: `{name} = {name}.detach()`."),
    ),
    about(
        "inference-tensor-written",
        r"Inplace update to inference tensor outside InferenceMode",
        made_in_inference_mode,
        N_("{line} writes {tensor} in place, which was made under `inference_mode`."),
        WHY["inference tensor written"],
        N_("Write it under `inference_mode` as well, or write into a copy: `{name} = {name}.clone()` before {line}."),
    ),
    about(
        "inference-tensor-in-autograd",
        r"Inference tensors cannot be saved for backward"
        r"|requires_grad=True on inference tensor outside InferenceMode"
        r"|Inference tensors do not track version counter",
        made_in_inference_mode,
        N_(
            "{line} uses {tensor} in a computation that autograd records, and {tensor} was made under `inference_mode`."
        ),
        N_(
            "A tensor made under `inference_mode` has no version counter and no place in autograd, so no node may save "
            "it."
        ),
        N_(
            "Make it under `torch.no_grad()` in place of `inference_mode`, or hand the computation a copy: "
            "`{name}.clone()`, taken outside of `inference_mode`."
        ),
        made_it=True,
    ),
    about(
        "expanded-write-refused",
        r"more than one element of the written-to tensor refers to a single memory location",
        repeats_elements,
        N_("{line} writes {tensor}, in which one element of memory stands for several positions."),
        N_("A write to one of them changes the others, so PyTorch refused."),
        N_("Give it memory of its own first: `.clone()` what {origin} gives."),
    ),
    about(
        "overlapping-write-refused",
        r"some elements of the input tensor and the written-to tensor refer to a single memory location",
        lambda tensor: True,
        N_("{line} writes {tensor} while it reads other elements of the same memory."),
        N_("An element could hold its new value before it is read, so PyTorch refused."),
        N_("Read from a copy: append `.clone()` to what {line} reads."),
    ),
)
