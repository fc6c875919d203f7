"""The kinds of errors that are explained, one table: code, what the text says, and who explains it.

It needs PyTorch, so it is loaded with the first error of a process that has it. The rows of Paddle's errors need none.
"""

from __future__ import annotations

from inplace_magic.language import N_
from inplace_magic.postmortem.failure import Kind
from inplace_magic.postmortem.overwritten import explain_overwritten
from inplace_magic.postmortem.refused.ended import ENDED
from inplace_magic.postmortem.refused.one_tensor import ONE_TENSOR
from inplace_magic.postmortem.refused.paddle import PADDLE
from inplace_magic.postmortem.refused.second_backward import SECOND
from inplace_magic.postmortem.refused.shapes import SHAPES
from inplace_magic.postmortem.refused.transforms import TRANSFORMS
from inplace_magic.postmortem.refused.views import VIEWS
from inplace_magic.postmortem.refused.without_gradient import WITHOUT_GRADIENT

KINDS: tuple[Kind, ...] = (
    *PADDLE,
    Kind(
        "saved-tensor-overwritten",
        r"has been modified by an inplace operation",
        explain_overwritten,
        N_(
            "Backward computes gradients from tensors that operations saved in forward. One of them was overwritten "
            "after that, and its gradient would be wrong, so PyTorch refused."
        ),
    ),
    *TRANSFORMS,
    *ONE_TENSOR,
    *VIEWS,
    *ENDED,
    *SECOND,
    *SHAPES,
    *WITHOUT_GRADIENT,
)
"""The first whose pattern is found in the text explains it."""
