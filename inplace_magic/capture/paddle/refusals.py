"""Paddle's errors about writing in place, told apart by their texts, which are all that it gives.

The texts stand in paddle/fluid/eager/tensor_wrapper.h, utils.cc and backward.cc
(https://github.com/PaddlePaddle/Paddle); tests/of_paddle/test_refusals.py provokes each of them.
"""

from __future__ import annotations

import re

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
