"""Why a cell failed that nobody watched: it runs again on copies, under a watch, behind the cells that built its graph.

``loss.backward()`` in Cell In[6] fails. ``loss`` is a result with a graph, of which there can be no copy; so the cell
of the history that bound it is run before, on the same copies, and of the cells between those two every one that
reaches the same tensors, such as ``opt.step()``.
"""

from __future__ import annotations

import dis
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import CodeType
from typing import TYPE_CHECKING, Any

from inplace_magic.errors import CompareError, CopyError
from inplace_magic.language import _, listed
from inplace_magic.magics.rerunning import Cells, program_of

if TYPE_CHECKING:
    from inplace_magic.report import Report

_ALIKE = 80
"""Characters of an error's text that tell it from others."""
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


def explained(shell: Any, number: int, failed: Mapping[int, str], *, allowed: bool) -> Explained:
    """Runs a cell of the history again, and its fixes.

    Args:
        shell: the shell.
        number: execution count of the cell.
        failed: the errors of the cells of this session that failed.
        allowed: files, commands and the network may be used again.

    Raises:
        CompareError: there is no such cell, it is not Python, or what it reads cannot be copied or made again.
        Repeated: it was about to do what cannot be done on copies.
    """
    from inplace_magic.proving.prove import proven

    texts = _history(shell)
    if number not in texts:
        raise CompareError(_("there is no cell In[{number}] in this session.").format(number=number))
    alone = Cells(shell, ((number, texts[number]),), may_fail=frozenset(failed), allowed=allowed)
    found = _run(alone, texts)
    if not _fails_alike(found.report, failed.get(number)):
        wider = _with_makers(found.cells, texts)
        again = _run(wider, texts) if wider is not None else found
        found = again if _fails_alike(again.report, failed.get(number)) else found
    return Explained(proven(found.report, None, allowed=allowed), found.cells)


def _run(cells: Cells, texts: dict[int, str]) -> Explained:
    """The report of some cells, behind those that made what cannot be copied."""
    from inplace_magic.proving.bench import Bench
    from inplace_magic.record.trace import Trace

    for _round in range(_MOST_ROUNDS):
        try:
            with cells.begun(None) as staged:
                report = Bench(staged, Trace(), allowed=cells.allowed).watched({})
            return Explained(replace(report, origin=cells), cells)
        except CopyError as refused:
            if refused.variable is None:
                raise
            wider = _with_makers(cells, texts, refused.variable)
            if wider is None:
                raise
            cells = wider
    raise CompareError(_("Too many earlier cells would have to be run again."))


def _fails_alike(report: Report, error: str | None) -> bool:
    """Whether a cell ended as it did then, as far as that is known."""
    now = report.trace.error
    return error is None or (now is not None and now.startswith(error[:_ALIKE]))


def _history(shell: Any) -> dict[int, str]:
    """The text of each cell of this session that is Python, by execution count."""
    found = {}
    for number, text in enumerate(shell.history_manager.input_hist_raw):
        lines = [_OURS.sub(r"\1pass", line) for line in text.splitlines()]
        if _ANOTHER_KIND.match(text) is None and any(line.strip() not in ("", "pass") for line in lines):
            found[number] = "\n".join(lines)
    return found


def _with_makers(cells: Cells, texts: dict[int, str], variable: str | None = None) -> Cells | None:
    """The cells with the one before them that bound a variable, and with those between that reach its tensors.

    Args:
        cells: those that ran.
        texts: the history.
        variable: None: each that the last cell reads and that leads to a tensor, since a copy of a view is not what it
            was (made under ``no_grad``, one of several outputs), and hooks of earlier cells may be on others.
    """
    chosen = [number for number, _text in cells.texts]
    last = chosen[-1]
    wanted = [variable] if variable is not None else sorted(_read_by(cells, last, texts[last]))
    found = {*chosen}
    for name in wanted:
        earlier = (each for each in sorted(texts, reverse=True) if each < last and each not in chosen)
        maker = next((each for each in earlier if name in _bound_by(cells, each, texts[each])), None)
        found.update(() if maker is None else (maker,))
    if len(found) == len(chosen):
        return None
    reached: set[int] = set().union(*(_reached(cells, each, texts[each]) for each in found))
    between = {each for each in texts if min(found) < each < last} - found
    while new := {each for each in between if _reached(cells, each, texts[each]) & reached}:
        found |= new
        between -= new
        reached.update(*(_reached(cells, each, texts[each]) for each in new))
    return replace(cells, texts=tuple((each, texts[each]) for each in sorted(found)))


def _read_by(cells: Cells, number: int, text: str) -> set[str]:
    """The names that a cell reads and that lead to a tensor."""
    from inplace_magic.rerun.state import addresses, find_state

    codes, namespace = _codes(cells, number, text), cells.shell.user_ns
    names = {name for code in codes for part in _within(code) for name in part.co_names if name in namespace}
    return {name for name in names if addresses(find_state((), (), namespace), namespace, [name])}


def _bound_by(cells: Cells, number: int, text: str) -> set[str]:
    """The names that a cell binds."""
    codes = _codes(cells, number, text)
    return {str(step.argval) for code in codes for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}


def _reached(cells: Cells, number: int, text: str) -> set[int]:
    """The memory that the code of a cell can reach now, by address."""
    from inplace_magic.rerun.state import addresses, find_state

    namespace = cells.shell.user_ns
    return addresses(find_state(_codes(cells, number, text), (), namespace), namespace, _bound_by(cells, number, text))


def _within(code: CodeType) -> Iterator[CodeType]:
    from inplace_magic.rerun.state import codes_within

    return codes_within(code)


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
