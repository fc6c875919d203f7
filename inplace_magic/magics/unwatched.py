"""The answer below the traceback of an unwatched cell, and the record of such failures."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError

from inplace_magic.language import N_, _
from inplace_magic.render.deliver import boundary, has_note

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
    """True if :func:`hint_for` an error says anything."""
    return hint_for(raised) is not None


def is_explained_text(text: str) -> bool:
    """True if a watch explains errors of this text."""
    return _EXPLAINED.search(text) is not None


def hint_for(raised: BaseException | None) -> str | None:
    """Return a hint for PyTorch's and Paddle's errors about in-place writes or a used-up graph, also as another error's
    cause; None for other errors.

    It reads the text alone: it imports nothing and runs no user code.
    """
    for _cause in range(_MOST_CAUSES):
        if raised is None:
            break
        text = raised.args[0] if isinstance(raised, _KINDS) and raised.args else None
        if isinstance(text, str) and is_explained_text(text):
            return HINT_FOR_PADDLE if _OF_PADDLE.search(text) else HINT
        raised = raised.__cause__ or (None if raised.__suppress_context__ else raised.__context__)
    return None


@dataclass(frozen=True, slots=True)
class Failed:
    """A cell that failed, unwatched."""

    error: str
    """As ``RuntimeError: text``, cut."""
    explained: bool
    """Whether a watch explains such errors."""


def failure_of(error: BaseException) -> Failed:
    """Return the record of a failure: text alone."""
    return Failed(f"{type(error).__name__}: {_first_line(error)}", hint_for(error) is not None)


def show_answer(shell: Any, error: BaseException, number: int | None, *, below: bool = True) -> None:
    """Display the answer to an error, where there is one; else, where a watch explains it, one line on how to ask."""
    if has_note(error):
        return
    with boundary(_("the answer could not be shown")):  # the cell has failed already, and by its own error alone
        from inplace_magic.answering.asked import answer_of

        found = answer_of(error, number)
        if found is not None:
            from inplace_magic.render.answer import to_mimebundle
            from inplace_magic.render.terminal import publish

            publish(shell, to_mimebundle(found, below=below), apart=True)
            return
    hint = hint_for(error)
    if hint is not None:
        print(_(hint))


def failures_before(shell: Any) -> dict[int, Failed]:
    """Return the cells that failed before the extension was loaded, by execution count, oldest first.

    IPython 9 keeps the texts of all errors, every version the last error.
    """
    kept = getattr(shell.history_manager, "exceptions", None)
    texts = kept.items() if isinstance(kept, dict) else ()
    found = {number: _from_shell(each) for number, each in texts if each.get("ename") != UsageError.__name__}
    error = getattr(sys, "last_value", None)
    if isinstance(error, Exception) and not isinstance(error, UsageError):
        from inplace_magic.answering.sessions import failed_cell

        number = failed_cell(error)
        if number is not None:
            found.pop(number, None)
            found[number] = failure_of(error)
    return found


def answer_late(shell: Any, failed: dict[int, Failed]) -> None:
    """Display the answer to the failure that came before the extension was loaded, unless it was shown."""
    error = getattr(sys, "last_value", None)
    if error is None or not failed:
        return
    from inplace_magic.answering.asked import is_known

    newest = next(reversed(failed))
    if failed[newest].explained and not is_known(error):
        show_answer(shell, error, newest, below=False)


def _from_shell(stored: Mapping[str, Any]) -> Failed:
    """Return a failure from the shell's record."""
    text = str(stored.get("evalue", ""))
    return Failed(f"{stored.get('ename')}: {text.strip().partition(chr(10))[0][:200]}", is_explained_text(text))


def _first_line(error: BaseException) -> str:
    """Return the beginning of an error's text; empty if the text is no string, since no user code may run."""
    text = error.args[0] if error.args else ""
    return text.strip().partition("\n")[0][:200] if isinstance(text, str) else ""
