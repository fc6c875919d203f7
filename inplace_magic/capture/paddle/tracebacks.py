"""What Python 3.10 leaves of a stand-in in the traceback of an error, and taking it out again.

There a bare ``raise`` goes on with the traceback that it had, whatever ``__traceback__`` was set to meanwhile, so the
stand-in's frame stays. It is taken out when the error has left the watched block, or as IPython shows it. Of later
versions there is nothing to take out.
"""

from __future__ import annotations

from types import TracebackType

from inplace_magic.capture.paddle import probe
from inplace_magic.errors import chained


def without_stand_ins(error: BaseException) -> None:
    """Takes the entries of stand-ins out of the traceback of an error, and of all errors that it came from."""
    for one in chained(error):
        first = _below(one.__traceback__)
        if first is not one.__traceback__:
            one.__traceback__ = first
        entry = first
        while entry is not None:
            following = _below(entry.tb_next)
            if following is not entry.tb_next:
                entry.tb_next = following
            entry = following


def _below(entry: TracebackType | None) -> TracebackType | None:
    """The first entry from there on that is no stand-in's."""
    while entry is not None and entry.tb_frame.f_code.co_filename == probe.__file__:
        entry = entry.tb_next
    return entry
