"""One line for the person whose unwatched cell just failed with an error that a watch explains, and no answer tells."""

from __future__ import annotations

import re

from inplace_magic.language import N_

_EXPLAINED = re.compile(
    r"modified by an inplace operation"
    r"|leaf Variable that requires grad .*in-place"
    r"|is a view and is being modified inplace"
    r"|view was created in no_grad mode"
    r"|backward through the graph a second time"
    r"|Leaf (Var|Tensor) .*can't use inplace strategy"
    r"|backward twice for the same subgraph"
)
_KINDS = RuntimeError, ValueError, SystemError
"""What PyTorch raises, and what Paddle does besides."""
_OF_PADDLE = re.compile(r"^\s*\((PermissionDenied|InvalidArgument|Fatal)\)", re.MULTILINE)
"""How Paddle's texts begin."""
_MOST_CAUSES = 20

HINT = N_(
    "inplace_magic: `%inplace_why` says which line did it, and tries a fix. It runs this cell again on copies, with "
    "the earlier cells that it needs; your variables stay as they are."
)

HINT_FOR_PADDLE = N_(
    "inplace_magic: to see which line did it, put `%%inplace_watch` on top of this cell and run it again; if the "
    "forward is in an earlier cell, run `%inplace_watch on` and then the cells from the forward on."
)


def is_explained(raised: BaseException | None) -> bool:
    """Whether :func:`hint_for` an error says anything."""
    return hint_for(raised) is not None


def is_explained_text(text: str) -> bool:
    """Whether a watch explains errors of this text."""
    return _EXPLAINED.search(text) is not None


def hint_for(raised: BaseException | None) -> str | None:
    """What helps with errors of PyTorch's and Paddle's about writing in place or a used-up graph, also as another's
    cause; None for other errors.

    Told by the text alone: nothing is imported and no code of the user's runs.
    """
    for _cause in range(_MOST_CAUSES):
        if raised is None:
            break
        text = raised.args[0] if isinstance(raised, _KINDS) and raised.args else None
        if isinstance(text, str) and is_explained_text(text):
            return HINT_FOR_PADDLE if _OF_PADDLE.search(text) else HINT
        raised = raised.__cause__ or (None if raised.__suppress_context__ else raised.__context__)
    return None
