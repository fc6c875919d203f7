"""What a watch leaves in the traceback of an error, and taking it out again.

A torch function that is written in Python, such as ``Tensor.backward``, asks at its first line whether an override is
active; it is, ours, and so the function stands in the traceback twice::

    cell, line 3            loss.backward()
    _tensor.py, backward    return handle_torch_function(…)     two entries more
    overrides.py, handle_torch_function                         than unwatched
    _tensor.py, backward    torch.autograd.backward(…)

Their frames are above our handler, and Python adds them when the error has left it; so they can be taken out when
it has left the watched block, or as IPython shows it.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from types import CodeType, TracebackType

import torch

from inplace_magic.capture.torch.callers import OVERRIDES, is_stand_in
from inplace_magic.errors import without_entries

OURS: set[CodeType] = set()
"""Code of ours that stands between the user's and torch's; the modes put theirs here."""

_WRAPPERS = tuple(os.path.join("torch", *name.split("/")) for name in ("_compile.py", "_dynamo/eval_frame.py"))


def without_detours(error: BaseException) -> None:
    """Takes those pairs of entries out of the traceback of an error, and of all errors that it came from."""
    without_entries(error, _beyond_detour)


def _beyond_detour(entry: TracebackType) -> TracebackType:
    """Return the entry of the function's second run, where its first one and the override machinery come right before
    it. With a mode or a subclass of the user's, the entry of its handler stands between."""
    passed_on = entry.tb_next
    again = passed_on.tb_next if passed_on is not None else None
    if passed_on is None or again is None:
        return entry
    code = passed_on.tb_frame.f_code
    if code.co_filename != OVERRIDES or code.co_name != "handle_torch_function":
        return entry
    return again if again.tb_frame.f_code is entry.tb_frame.f_code else entry


def without_our_frames(traceback: TracebackType | None) -> TracebackType | None:
    """What is left of a traceback when the frames of this package, and the detours through torch's override machinery
    that it caused further down, are taken out."""
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    files = [entry.tb_frame.f_code.co_filename for entry in entries]
    detour = [file == OVERRIDES for file in files]
    around = _around_dispatch(entries, files)
    kept = [
        entry
        for entry, leaves, left, to_ops in zip(entries, detour, [*detour[1:], False], around, strict=True)
        if not (leaves or left or to_ops or entry.tb_frame.f_code in OURS or is_stand_in(entry.tb_frame.f_code))
    ]
    for entry, below in pairwise([*kept, None]):
        if entry is not None:
            entry.tb_next = below
    top = kept[0] if kept else None
    if top is not None and sys.version_info < (3, 11):
        entries[0].tb_next = top  # a bare `raise` goes on with this one, our own, whatever is set
    return top


def _around_dispatch(entries: list[TracebackType], files: list[str]) -> list[bool]:
    """Which entries are torch's own way to and from :class:`OpProbe`: wrappers that keep the compiler out of any
    dispatch mode, and the operator that the probe calls."""
    found = [False] * len(entries)
    for at, entry in enumerate(entries):
        if entry.tb_frame.f_code.co_name != "__torch_dispatch__" or entry.tb_frame.f_code not in OURS:
            continue
        before = at - 1
        while before >= 0 and files[before].endswith(_WRAPPERS):
            found[before] = True
            before -= 1
        for after in range(at + 1, len(entries)):
            if files[after] != torch._ops.__file__:
                break
            found[after] = True
    return found
