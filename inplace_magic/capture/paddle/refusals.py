"""Paddle's errors about writing in place, told apart by their texts, which are all that it gives.

The texts stand in paddle/fluid/eager/tensor_wrapper.h, utils.cc and backward.cc
(https://github.com/PaddlePaddle/Paddle); tests/of_paddle/test_refusals.py provokes each of them.

And what stand-ins leave in an error of the user's, and taking it out again. Where Python code that a backward runs (a
hook, ``PyLayer.backward``) raises, C++ makes a text of all frames that are running, and raises another error with that
text::

    (External) ZeroDivisionError: division by zero

    At:
      hook.py(17): <lambda>
      probe.py(69): stand_in              ours, one line for each stand-in that waits
      tensor_patch_methods.py(370): backward

In Python 3.10 a bare ``raise`` goes on with the traceback that it had, whatever ``__traceback__`` was set to meanwhile,
so the stand-in's own entry stays. It is taken out when the error has left the watched block, or as IPython shows it.
"""

from __future__ import annotations

import os
import re

from inplace_magic.errors import without_entries
from inplace_magic.record.refusal import Refusal

_CHANGED = "used in gradient computation has been modified by an inplace operation"
_VERSIONS = re.compile(r"Its version is (\d+) but the expected version is (\d+)")
_LEAF = re.compile(r"Leaf (?:Var|Tensor) \(.*?\) that doesn't stop gradient can't use inplace strategy")
_USED_UP = "You calculate backward twice for the same subgraph"


def refusal_of(text: str | None) -> Refusal | None:
    """Return the facts of an error's text; None where it is about something else."""
    if text is None:
        return None
    if _CHANGED in text:
        versions = _VERSIONS.search(text)
        return Refusal(
            "saved tensor changed",
            found=int(versions[1]) if versions is not None else None,
            expected=int(versions[2]) if versions is not None else None,
        )
    if _USED_UP in text:
        return Refusal("graph used up")
    return Refusal("leaf written") if _LEAF.search(text) else None


_PROBE = os.path.join(os.path.dirname(__file__), "probe.py")
_LINE = re.compile(rf"^ *{re.escape(_PROBE)}\(\d+\): \w+\n", re.MULTILINE)


def without_our_lines(error: BaseException) -> None:
    """Takes the lines of stand-ins out of the text of an error of Paddle's."""
    if error.args and isinstance(error.args[0], str) and _PROBE in error.args[0]:
        error.args = (_LINE.sub("", error.args[0]), *error.args[1:])


def without_stand_ins(error: BaseException) -> None:
    """Takes the entries of stand-ins out of the traceback of an error, and of all errors that it came from."""
    without_entries(error, lambda entry: entry.tb_next if entry.tb_frame.f_code.co_filename == _PROBE else entry)
