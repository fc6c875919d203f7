"""Why a cell failed that nobody watched: it runs again on copies, under a watch, behind the cells that built its graph.

``loss.backward()`` in Cell In[6] fails. ``loss`` is a result with a graph, of which there can be no copy; so the cell
of the history that bound it is run before, on the same copies, and of the cells between those two every one that
reaches the same tensors, such as ``opt.step()``.
"""

from __future__ import annotations

import dis
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inplace_magic.errors import CompareError, CopyError
from inplace_magic.language import _, listed
from inplace_magic.magics.rerunning import Cells, program_of

if TYPE_CHECKING:
    from inplace_magic.report import Report

_MOST_ROUNDS = 20
"""Earlier cells that are asked for one after the other."""
_ANOTHER_KIND = re.compile(r"\s*%%(?!inplace_watch)")
_OURS = re.compile(r"(\s*)%(inplace_|(re|un)?load_ext\s+inplace_magic).*")
"""A line with a magic of ours, which is not run again."""


@dataclass(frozen=True, slots=True)
class Explained:
    """What running a cell again showed."""

    report: Report
    cells: Cells


def explained(shell: Any, number: int, *, failed: frozenset[int], allowed: bool) -> Explained:
    """Runs a cell of the history again, and its fixes.

    Args:
        shell: the shell.
        number: execution count of the cell.
        failed: the cells of this session that failed.
        allowed: files, commands and the network may be used again.

    Raises:
        CompareError: there is no such cell, it is not Python, or what it reads cannot be copied or made again.
        Repeated: it was about to do what cannot be done on copies.
    """
    from inplace_magic.proving.bench import Bench
    from inplace_magic.proving.prove import proven
    from inplace_magic.record.trace import Trace

    texts = _history(shell)
    if number not in texts:
        raise CompareError(_("there is no cell In[{number}] in this session.").format(number=number))
    chosen = [number]
    for _round in range(_MOST_ROUNDS):
        cells = Cells(shell, tuple((each, texts[each]) for each in chosen), may_fail=failed, allowed=allowed)
        try:
            with cells.begun(None) as staged:
                report = replace(Bench(staged, Trace(), allowed=allowed).watched({}), origin=cells)
            break
        except CopyError as refused:
            if refused.variable is None:
                raise
            chosen = _with_binder(cells, texts, chosen, refused)
    else:
        raise CompareError(_("Too many earlier cells would have to be run again."))
    return Explained(proven(report, None, allowed=allowed), cells)


def _history(shell: Any) -> dict[int, str]:
    """The text of each cell of this session that is Python, by execution count."""
    found = {}
    for number, text in enumerate(shell.history_manager.input_hist_raw):
        lines = [_OURS.sub(r"\1pass", line) for line in text.splitlines()]
        if _ANOTHER_KIND.match(text) is None and any(line.strip() not in ("", "pass") for line in lines):
            found[number] = "\n".join(lines)
    return found


def _with_binder(cells: Cells, texts: dict[int, str], chosen: list[int], refused: CopyError) -> list[int]:
    """The chosen cells with the one before them that bound a variable, and with those between that reach its tensors.

    Raises:
        CopyError: no cell bound it.
    """
    binder = next(
        (
            each
            for each in sorted(texts, reverse=True)
            if each < chosen[-1] and each not in chosen and refused.variable in _bound_by(cells, each, texts[each])
        ),
        None,
    )
    if binder is None:
        raise refused
    found = {*chosen, binder}
    reached = set().union(*(_reached(cells, each, texts[each]) for each in found))
    between = [each for each in texts if binder < each < chosen[-1] and each not in found]
    while True:
        more = {each: _reached(cells, each, texts[each]) for each in between}
        new = [each for each, addresses in more.items() if addresses & reached]
        if not new:
            return sorted(found)
        found.update(new)
        reached.update(*(more[each] for each in new))
        between = [each for each in between if each not in found]


def _bound_by(cells: Cells, number: int, text: str) -> set[str]:
    """The names that a cell binds."""
    codes = _codes(cells, number, text)
    return {str(step.argval) for code in codes for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}


def _reached(cells: Cells, number: int, text: str) -> set[int]:
    """The memory that the code of a cell can reach now, by address."""
    from inplace_magic.rerun.state import addresses, find_state

    namespace = cells.shell.user_ns
    return addresses(find_state(_codes(cells, number, text), (), namespace), namespace, _bound_by(cells, number, text))


def _codes(cells: Cells, number: int, text: str) -> tuple[Any, ...]:
    try:
        return program_of(Cells(cells.shell, ((number, text),)), {}).codes
    except CompareError:  # a cell of another kind
        return ()


def not_again(outcome: Explained, error: str) -> str:
    """What to say of a cell that did not fail when it was run again."""
    numbers = [f"Cell In[{number}]" for number, _text in outcome.cells.texts]
    told = _(
        "inplace_magic: {cells} ran to the end on copies of what your variables hold now; before, it raised {error}. "
        "What can differ: random numbers, which go on from where they are, and what the first run left in {names}."
    )
    return told.format(cells=listed(numbers), error=error, names=_left(outcome.cells))


def _left(cells: Cells) -> str:
    names: set[str] = set()
    for number, text in cells.texts:
        names |= _bound_by(cells, number, text)
    shown = sorted(names)[:8]
    return listed([f"`{name}`" for name in shown]) or _("objects that it changes")
