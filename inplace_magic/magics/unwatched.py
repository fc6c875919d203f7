"""The answer below the traceback of an unwatched cell, and the record of such failures."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError

from inplace_magic.answering.asked import answer_of, is_known
from inplace_magic.language import _
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
_MOST_CAUSES = 20


def is_explained(raised: BaseException | None) -> bool:
    """True if a watch explains an error: PyTorch's and Paddle's about in-place writes or a used-up graph, also as
    another error's cause.

    It reads the text alone: it imports nothing and runs no user code.
    """
    for _cause in range(_MOST_CAUSES):
        if raised is None:
            break
        text = raised.args[0] if isinstance(raised, _KINDS) and raised.args else None
        if isinstance(text, str) and _EXPLAINED.search(text):
            return True
        raised = raised.__cause__ or (None if raised.__suppress_context__ else raised.__context__)
    return False


@dataclass(frozen=True, slots=True)
class Failed:
    """A cell that failed, unwatched."""

    error: str
    """As ``RuntimeError: text``, cut."""
    explained: bool
    """Whether a watch explains such errors."""


def failure_of(error: BaseException) -> Failed:
    """Return the record of a failure: text alone; empty if that is no string, since no user code may run."""
    text = error.args[0] if error.args else ""
    return _failed(type(error).__name__, text if isinstance(text, str) else "", is_explained(error))


def _failed(kind: str, text: str, explained: bool, /) -> Failed:
    first, _end, _rest = text.strip().partition("\n")
    return Failed(f"{kind}: {first[:200]}", explained)


def show_answer(shell: Any, error: BaseException, number: int | None, *, below: bool = True) -> None:
    """Display the answer to an error, where there is one."""
    if has_note(error):
        return
    with boundary(_("the answer could not be shown")):  # the cell has failed already, and by its own error alone
        found = answer_of(error, number)
        if found is not None:
            from inplace_magic.render.answer import to_mimebundle
            from inplace_magic.render.terminal import publish

            publish(shell, to_mimebundle(found, below=below), apart=True)


def failures_before(shell: Any) -> dict[int, Failed]:
    """Return the cells that failed before the extension was loaded, by execution count, oldest first.

    IPython 9 keeps the texts of all errors, every version the last error.
    """
    kept = getattr(shell.history_manager, "exceptions", None)
    texts = kept.items() if isinstance(kept, dict) else ()
    found = {}
    for number, each in texts:
        kind, text = str(each.get("ename")), str(each.get("evalue", ""))
        if kind != UsageError.__name__:
            found[number] = _failed(kind, text, _EXPLAINED.search(text) is not None)
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
    newest = next(reversed(failed))
    if failed[newest].explained and not is_known(error):
        show_answer(shell, error, newest, below=False)
