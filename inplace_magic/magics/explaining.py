"""Explain the failure of an unwatched cell: it runs again on copies, under a watch, after the cells that built its
graph.

``loss.backward()`` in Cell In[6] fails. ``loss`` is a result with a graph, which cannot be copied. So the earlier cell
that bound it runs first, on the same copies, and so does every cell between the two that reaches the same tensors, such
as ``opt.step()``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from inplace_magic.errors import CompareError, CopyError
from inplace_magic.language import _, listed
from inplace_magic.magics.compare import NO_CELL, OF_ANOTHER_KIND
from inplace_magic.magics.rerunning import Cells, another_kind, program_of
from inplace_magic.proving.prove import proven
from inplace_magic.proving.why import fails_alike, watched_again
from inplace_magic.report import Report
from inplace_magic.rerun.state import addresses, bound_first, codes_within, find_state, named_in
from inplace_magic.rerun.twins import copy_state

_OURS = re.compile(r"(\s*)%(inplace_|(re|un)?load_ext\s+inplace_magic).*")
"""A line with a magic of ours, which is not run again."""


def explained(shell: Any, number: int, failed: Mapping[int, str], *, allowed: bool) -> tuple[Report, Cells]:
    """Run a cell of the history again, and its fixes; return the report, and all cells that ran for it.

    Args:
        allowed: allow files, commands and the network again.

    Raises:
        CompareError: there is no such cell, it is not Python, or a variable that it reads cannot be copied or made
            again.
        Repeated: it was about to act outside the copies.
    """
    texts = _history(shell)
    whole = shell.history_manager.input_hist_raw
    if number not in texts and 0 < number < len(whole) and (magic := another_kind(whole[number])):
        raise CompareError(_(OF_ANOTHER_KIND).format(magic=magic))
    if number not in texts:
        raise CompareError(_(NO_CELL).format(number=number))
    alone = Cells(shell, ((number, texts[number]),), may_fail=frozenset(failed))
    behind = partial(_behind_makers, texts)
    report, cells = watched_again(alone, None, behind, allowed=allowed)
    wider = _with_makers(cells, texts) if not fails_alike(report, failed.get(number)) else None
    if wider is not None:
        again = watched_again(wider, None, behind, allowed=allowed)
        report, cells = again if fails_alike(again[0], failed.get(number)) else (report, cells)
    return proven(report, None, allowed=allowed), cells


def _behind_makers(texts: dict[int, str], cells: Cells, refused: CopyError) -> Cells:
    """Return the cells behind those that made what cannot be copied.

    Raises:
        CopyError: no earlier cell made it.
    """
    names = [refused.variable] if refused.variable is not None else _not_copied(cells)
    found = (_with_makers(cells, texts, name) for name in names)
    wider = next((each for each in found if each is not None), None)
    if wider is None:
        raise refused
    return wider


def _not_copied(cells: Cells) -> Iterator[str]:
    """Yield the names that the cells read before they bind them, and whose object alone cannot be copied."""
    namespace = cells.shell.user_ns
    anew = bound_first(code for number, text in cells.texts for code in _codes(cells, number, text))
    for name in _names(cells, cells.texts):
        given = (namespace[name],)
        try:
            if name not in anew:
                copy_state(find_state((), given, namespace), given, namespace)
        except CopyError:
            yield name


def _history(shell: Any) -> dict[int, str]:
    """Return the text of each Python cell of this session, by execution count."""
    found = {}
    for number, text in enumerate(shell.history_manager.input_hist_raw):
        lines = [_OURS.sub(r"\1pass", line) for line in text.splitlines()]
        if not another_kind(text) and any(line.strip() not in ("", "pass") for line in lines):
            found[number] = "\n".join(lines)
    return found


def _with_makers(cells: Cells, texts: dict[int, str], variable: str | None = None) -> Cells | None:
    """Return the cells, the earlier cell that bound a variable, and the cells between that reach its tensors.

    Args:
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
    """Return the names that a cell reads and that lead to a tensor."""
    namespace = cells.shell.user_ns
    names = _names(cells, [(number, text)])
    return {name for name in names if addresses(find_state((), (), namespace), namespace, [name])}


def _names(cells: Cells, texts: Iterable[tuple[int, str]]) -> list[str]:
    """Return the names of the namespace that cells read, in alphabetical order."""
    codes = (code for number, text in texts for code in _codes(cells, number, text))
    found = {name for code in codes for part in codes_within(code) for name in part.co_names}
    return sorted(found & set(cells.shell.user_ns))


def _bound_by(cells: Cells, number: int, text: str) -> set[str]:
    """Return the names that a cell binds."""
    uses = (use for code in _codes(cells, number, text) for use in named_in(code))
    return {name for operation, name in uses if operation == "STORE_NAME"}


def _reached(cells: Cells, number: int, text: str) -> set[int]:
    """Return the memory that the code of a cell can reach now, by address."""
    namespace = cells.shell.user_ns
    return addresses(find_state(_codes(cells, number, text), (), namespace), namespace, _bound_by(cells, number, text))


def _codes(cells: Cells, number: int, text: str) -> tuple[Any, ...]:
    try:
        return program_of(Cells(cells.shell, ((number, text),)), {}).codes
    except CompareError:  # a cell of another kind
        return ()


def not_again(report: Report, cells: Cells, error: str) -> str:
    """Return the sentence on a cell whose second run did not fail, or failed differently; empty for any other."""
    now = report.trace.error
    if fails_alike(report, error):
        return ""
    text = _(
        "inplace_magic: {cells} ran to the end on copies of what your variables hold now; before, it raised {error}. "
        "What can differ: random numbers, which go on from where they are, and what the first run left in {names}."
    )
    if now is not None:
        text = _(
            "inplace_magic: {cells} raised {now} on copies of what your variables hold now; before, it raised {error}. "
            "What can differ: random numbers, which go on from where they are, and what the first run left in {names}."
        )
    left = sorted(set().union(*(_bound_by(cells, *each) for each in cells.texts)))[:8]
    names = listed([f"`{name}`" for name in left]) or _("objects that it changes")
    numbers = [f"Cell In[{number}]" for number, _text in cells.texts]
    return text.format(cells=listed(numbers), error=error, now=now, names=names)
