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

from types import TracebackType

from inplace_magic.capture.torch.callers import OVERRIDES
from inplace_magic.errors import chained


def without_detours(error: BaseException) -> None:
    """Takes those pairs of entries out of the traceback of an error, and of all errors that it came from."""
    for one in chained(error):
        first = _shortened(one.__traceback__)
        if first is not one.__traceback__:
            one.__traceback__ = first


def _shortened(first: TracebackType | None) -> TracebackType | None:
    while first is not None and (end := _detour(first)) is not None:
        first = end
    entry = first
    while entry is not None:
        following = entry.tb_next
        if following is not None and (end := _detour(following)) is not None:
            entry.tb_next = end
        else:
            entry = following
    return first


def _detour(entry: TracebackType) -> TracebackType | None:
    """The entry of the function's second run, where its first one and the override machinery come right before it. With
    a mode or a subclass of the user's, the entry of its handler stands between."""
    passed_on = entry.tb_next
    again = passed_on.tb_next if passed_on is not None else None
    if passed_on is None or again is None:
        return None
    code = passed_on.tb_frame.f_code
    if code.co_filename != OVERRIDES or code.co_name != "handle_torch_function":
        return None
    return again if again.tb_frame.f_code is entry.tb_frame.f_code else None
