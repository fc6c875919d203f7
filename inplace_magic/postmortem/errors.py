"""The kinds of errors that are explained, one table: code, what the text says, and who explains it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from types import FrameType, TracebackType

from inplace_magic.language import N_
from inplace_magic.postmortem.failure import Cells, Failure, UserFrame
from inplace_magic.postmortem.kind import Kind
from inplace_magic.postmortem.refused.copies import COPIES
from inplace_magic.postmortem.refused.ended import ENDED
from inplace_magic.postmortem.refused.leaves import LEAVES
from inplace_magic.postmortem.refused.paddle import PADDLE
from inplace_magic.postmortem.refused.returned import GIVEN_BACK
from inplace_magic.postmortem.refused.second_backward import SECOND
from inplace_magic.postmortem.refused.shapes import SHAPES
from inplace_magic.postmortem.refused.transforms import TRANSFORMS
from inplace_magic.postmortem.refused.unused import UNUSED
from inplace_magic.postmortem.refused.views import VIEWS
from inplace_magic.postmortem.refused.without_gradient import WITHOUT_GRADIENT
from inplace_magic.postmortem.texts import Texts
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite

_MOST_CAUSES = 20
_MOST_FRAMES = 2_000


def _overwritten(failure: Failure) -> Answer | None:
    """What reads the graph is loaded with the first such error; it needs PyTorch, which is loaded then."""
    if "torch" not in sys.modules:
        return None
    from inplace_magic.postmortem.overwritten import explain_overwritten

    return explain_overwritten(failure)


KINDS: tuple[Kind, ...] = (
    *PADDLE,
    Kind(
        "saved-tensor-overwritten",
        re.compile(
            r"has been modified by an inplace operation(?:: \[(?P<type>[\w.]+) \[(?P<shape>[\d, ]*)\]\])?"
            r"(?:, which is output \d+ of (?P<node>\w+))?"
            r"(?:.*?is at version (?P<found>\d+); expected version (?P<expected>\d+) instead)?",
            re.DOTALL,
        ),
        _overwritten,
        N_(
            "Backward computes gradients from tensors that operations saved in forward. One of them was overwritten "
            "after that, and its gradient would be wrong, so PyTorch refused."
        ),
    ),
    *LEAVES,
    *VIEWS,
    *TRANSFORMS,
    *COPIES,
    *ENDED,
    *SECOND,
    *SHAPES,
    *GIVEN_BACK,
    *UNUSED,
    *WITHOUT_GRADIENT,
)
"""The first whose pattern is found in the text explains it."""


def answer_to(error: BaseException, *, namespace: Mapping[str, object], cells: Cells) -> Answer | None:
    """Return the cause of an autograd error, as far as what it left tells; None for any other error.

    Args:
        error: the exception, with its traceback.
        namespace: the user's global names.
        cells: the cells of the session that ran; empty for a script.
    """
    try:
        for raised, text in _chain(error):
            for kind in KINDS:
                match = kind.pattern.search(text)
                if match is not None:
                    return kind.explain(_failure(raised, text, match, namespace, Texts(cells)))
    except Exception:  # a fault of ours shall not stand beside the user's error: then there is no answer
        return None
    return None


def _chain(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """Yield an error and its causes, with their texts."""
    raised: BaseException | None = error
    for _cause in range(_MOST_CAUSES):
        if raised is None:
            return
        text = raised.args[0] if raised.args else None
        if isinstance(raised, Exception) and type(text) is str:
            yield raised, text
        raised = raised.__cause__ or (None if raised.__suppress_context__ else raised.__context__)


def _failure(
    error: BaseException, text: str, match: re.Match[str], namespace: Mapping[str, object], texts: Texts
) -> Failure:
    from inplace_magic.capture.naming.scope import locals_of

    frames: list[UserFrame] = []
    stack: list[FrameType] = []
    place: Callsite | None = None
    is_inside = False
    step: TracebackType | None = error.__traceback__
    while step is not None and len(stack) < _MOST_FRAMES:
        frame, code = step.tb_frame, step.tb_frame.f_code
        stack.append(frame)
        if frame.f_globals is namespace and not code.co_flags & inspect.CO_OPTIMIZED and not is_inside:
            is_inside, place = True, None
            frames.clear()  # what ran the cell or the script is somebody else's
        if texts.is_users(code.co_filename):
            place = texts.locate(code, step.tb_lasti, place)
            frames.append(UserFrame(place, len(stack) - 1, code, frame.f_globals, locals_of(frame)))
        step = step.tb_next
    return Failure(error, text, match, tuple(frames), tuple(stack), namespace, texts)
