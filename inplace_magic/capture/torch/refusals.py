"""PyTorch's errors about writing in place, told apart by their texts, which are all that it gives.

The texts stand in torch/csrc/autograd/saved_variable.cpp, torch/csrc/autograd/VariableTypeUtils.h and
aten/src/ATen/MemoryOverlap.cpp (https://github.com/pytorch/pytorch); tests/capture/test_refusals.py provokes each of
them.
"""

from __future__ import annotations

import re

from inplace_magic.record.refusal import Refusal, RefusalKind

_CHANGED = "has been modified by an inplace operation"
_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+) instead")
_NODE = re.compile(r"which is output \d+ of (\w+?)(?:Backward\d*)?\b")
"""Older PyTorch (2.6) says ``SplitBackward0`` where newer (2.13) says ``Split``."""
_SHAPE = re.compile(r"\[torch\.[\w.]+ \[([\d, ]*)\]\]")

_USED_UP = "Trying to backward through the graph a second time"
_LEAF = re.compile(r"a (view of a )?leaf Variable that requires grad (is being|has been) used in an in-place operation")
_VIEW = re.compile(
    r"Output \d+ of (?P<node>\w+?)(?:Backward\d*)? is a view|A view was created in (?P<mode>no_grad|inference) mode"
    r"|(?P<detached>Can't detach views in-place)"
    r"|(?P<inference>Inplace update to inference tensor outside InferenceMode)"
)
_SEVERAL = "function that returns multiple views"
_CUSTOM = "created inside a custom Function"
_BASE = "its base or another view of its base has been modified inplace"
_EXPANDED = "more than one element of the written-to tensor refers to a single memory location"
_READ_TOO = "some elements of the input tensor and the written-to tensor refer to a single memory location"


def refusal_of(text: str | None) -> Refusal | None:
    """Return the facts of an error's text; None where it is about something else."""
    if text is None:
        return None
    if _CHANGED in text:
        return _changed(text)
    if _USED_UP in text:
        return Refusal("graph used up")
    if _EXPANDED in text or _READ_TOO in text:
        return Refusal("expanded tensor written" if _EXPANDED in text else "memory read and written")
    leaf = _LEAF.search(text)
    if leaf is not None:
        return Refusal("view of a leaf written" if leaf[1] else "leaf written")
    view = _VIEW.search(text)
    if view is None:
        return None
    kind = _kind(view, text)
    mode = view["mode"] if kind == "view made without recording written" else None
    return Refusal(kind, node=view["node"], mode=mode)


def _changed(text: str) -> Refusal:
    versions, shape, node = _VERSIONS.search(text), _SHAPE.search(text), _NODE.search(text)
    return Refusal(
        "saved tensor changed",
        expected=int(versions[2]) if versions is not None else None,
        found=int(versions[1]) if versions is not None else None,
        shape=tuple(int(size) for size in shape[1].split(",") if size.strip()) if shape is not None else None,
        node=node[1] if node is not None else None,
    )


def _kind(view: re.Match[str], text: str) -> RefusalKind:
    if view["detached"]:
        return "view detached in place"
    if view["inference"]:
        return "inference tensor written"
    if _SEVERAL in text:
        return "base of several views written" if _BASE in text else "one of several views written"
    # PyTorch says "created in no_grad mode" of every view without a node, also of one whose base needed no gradient
    # then; the sentence after it gives the reason.
    if view["mode"] and _CUSTOM not in text:
        return "view made without recording written"
    return "view of a custom function written"
