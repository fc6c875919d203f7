"""From an exception to what explains it: the first of the kinds that its text, or that of a cause, fits."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType, TracebackType

from inplace_magic.capture.naming.scope import locals_of
from inplace_magic.postmortem.failure import Cell, Failure, Kind, Texts, UserFrame
from inplace_magic.postmortem.refused.paddle import PADDLE
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite

_MOST_CAUSES = 20
_MOST_FRAMES = 2_000


def answer_to(error: BaseException, *, namespace: Mapping[str, object], cells: Sequence[Cell]) -> Answer | None:
    """Return the cause of an autograd error, as far as what it left tells; None for any other error.

    Args:
        error: the exception, with its traceback.
        namespace: the user's global names.
        cells: the cells of the session that ran; empty for a script.
    """
    try:
        for raised, text in _chain(error):
            for kind in _kinds():
                match = kind.search(text)
                if match is not None:
                    return kind.answer(_failure(raised, text, kind, match, namespace, Texts(cells)))
    except Exception:  # a fault of ours shall not stand beside the user's error: then there is no answer
        return None
    return None


def _kinds() -> tuple[Kind, ...]:
    if "torch" not in sys.modules:
        return PADDLE
    from inplace_magic.postmortem.kinds import KINDS

    return KINDS


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
    error: BaseException, text: str, kind: Kind, match: re.Match[str], namespace: Mapping[str, object], texts: Texts
) -> Failure:
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
            place = texts.sources.locate(code, step.tb_lasti, place)
            frames.append(UserFrame(place, len(stack) - 1, code, frame.f_globals, locals_of(frame)))
        step = step.tb_next
    return Failure(error, text, kind, match, tuple(frames), tuple(stack), namespace, texts)
