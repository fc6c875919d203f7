"""Functions with other code for a while, so that a change of a file is tried without touching the file.

``def forward`` of a module was compiled from ``model.py``. The changed text is compiled under the same name, its
functions are found by name and line, and every live function of that file gets the code of its twin; its object, its
closure, its defaults and all references to it stay what they are. Afterwards each has its own code again.
"""

from __future__ import annotations

import gc
import linecache
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FunctionType

from inplace_magic.errors import CompareError
from inplace_magic.language import _
from inplace_magic.rerun.state import codes_within
from inplace_magic.source.hunks import Hunk, changed, moved

Changes = Mapping[str, tuple[tuple[str, ...], list[Hunk]]]
"""By the name under which a text was compiled: its lines, and what is changed of them."""


@contextmanager
def replaced(changes: Changes, run_anew: Mapping[str, range] | None = None) -> Iterator[None]:
    """While the block runs, the functions of those files have the code of the changed text.

    Args:
        changes: what is changed.
        run_anew: by name of the text, lines that the program itself will run, so that no function needs to have them.

    Raises:
        CompareError: a change is outside of all functions that are alive, so that none of them has it, or the changed
            text is no Python.
    """
    before: list[tuple[FunctionType, CodeType]] = []
    entries = {name: linecache.cache.get(name) for name in changes}
    try:
        for name, (lines, hunks) in changes.items():
            text = changed(lines, hunks)
            twins = _twins(_compiled(text, name), hunks, lines)
            live = [each for each in gc.get_objects() if type(each) is FunctionType and _is_of(each, name)]
            outside = [hunk for hunk in hunks if hunk.first not in (run_anew or {}).get(name, ())]
            _refuse_what_none_has([function.__code__ for function in live], outside, name)
            for function in live:
                twin = twins.get(_key(function.__code__))
                if twin is not None and len(twin.co_freevars) == len(function.__closure__ or ()):
                    before.append((function, function.__code__))
                    function.__code__ = twin
            joined = "\n".join(text) + "\n"
            linecache.cache[name] = len(joined), None, joined.splitlines(keepends=True), name
        yield
    finally:
        for function, code in reversed(before):
            function.__code__ = code
        for name, entry in entries.items():
            linecache.cache.pop(name, None)
            if entry is not None:
                linecache.cache[name] = entry


def _is_of(function: FunctionType, name: str) -> bool:
    return function.__code__.co_filename == name


def _compiled(lines: Iterable[str], name: str) -> CodeType:
    try:
        return compile("\n".join(lines), name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise CompareError(
            _("The changed text of {name} is no Python: {error}.").format(name=name, error=error)
        ) from None


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _twins(module: CodeType, hunks: list[Hunk], lines: tuple[str, ...]) -> dict[tuple[str, int], CodeType]:
    """The functions of the changed text by name and line of those that they stand for."""
    old_line = {moved(line, hunks): line for line in range(1, len(lines) + 1)}
    return {
        (code.co_name, old_line[code.co_firstlineno]): code
        for code in codes_within(module)
        if code.co_firstlineno in old_line and code is not module
    }


def _refuse_what_none_has(codes: list[CodeType], hunks: list[Hunk], name: str) -> None:
    """A change of a line that runs when a module is imported, or a class made, would change nothing any more."""
    taken = {
        line
        for code in codes
        for part in codes_within(code)
        for *_ends, line in part.co_lines()
        if line and (line > part.co_firstlineno or part.co_name == "<lambda>")  # and not the defaults, on its first
    }
    for hunk in hunks:
        last = hunk.first + len(hunk.old) - 1
        if not taken.intersection(range(hunk.first, last + 1)):
            raise CompareError(
                _("Line {line} of {name} ran when its module was loaded, which a second run does not repeat.").format(
                    line=hunk.first, name=name.replace("\\", "/").rpartition("/")[2]
                )
            )
