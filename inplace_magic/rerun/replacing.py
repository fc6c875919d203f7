"""Functions with other code for a while, so that a change of a file is tried without touching the file.

``def forward`` of a module was compiled from ``model.py``. The changed text is compiled under the same name, its
functions are found by name and line, and every live function of that file gets the code of its twin; its object, its
closure, its defaults and all references to it stay what they are. Afterwards each has its own code again. A program
that reads a file and runs it itself, by ``exec(compile(…))``, ``%run`` or ``runpy``, compiles the changed text, too.
"""

from __future__ import annotations

import builtins
import gc
import linecache
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

from inplace_magic.errors import CompareError
from inplace_magic.language import _
from inplace_magic.rerun.settings import attributes_set
from inplace_magic.rerun.state import codes_within
from inplace_magic.source.hunks import Hunk, Whose, changed, moved

Changes = Mapping[str, tuple[tuple[str, ...], list[Hunk]]]
"""By the name under which a text was compiled: its lines, and what is changed of them."""


def changes_by_name(changes: Mapping[Whose, list[Hunk]], cells: Mapping[str, int]) -> Changes:
    """Return changes of files and cells by the names under which those were compiled, with their present lines.

    Args:
        changes: by whose text they change.
        cells: execution count by compiled file name.

    Raises:
        CompareError: the text of a cell is not known any more.
    """
    names = {number: name for name, number in cells.items()}
    found: dict[str, tuple[tuple[str, ...], list[Hunk]]] = {}
    for (number, file), hunks in changes.items():
        name = file if file is not None or number is None else names.get(number)
        if name is not None:
            found[name] = tuple(line.rstrip("\n") for line in linecache.getlines(name)), hunks
        elif number is not None:
            raise CompareError(_("The text of cell In[{number}] is not known any more.").format(number=number))
    return found


@contextmanager
def replaced(changes: Changes, run_anew: Mapping[str, range] | None = None) -> Iterator[None]:
    """While the block runs, the functions of those files have the code of the changed text.

    Args:
        run_anew: by name of the text, lines that the program itself will run, so that no function needs to have them.

    Raises:
        CompareError: a change is outside of all functions that are alive, so that none of them has it, or the changed
            text is no Python.
    """
    before: list[tuple[FunctionType, CodeType]] = []
    refused: dict[str, CompareError] = {}
    texts = {name: "\n".join(changed(lines, hunks)) + "\n" for name, (lines, hunks) in changes.items()}
    try:
        for name, (lines, hunks) in changes.items():
            twins = _twins(_compiled(texts[name], name), hunks, lines)
            functions = (each for each in gc.get_objects() if type(each) is FunctionType)
            live = [each for each in functions if each.__code__.co_filename == name]
            outside = [hunk for hunk in hunks if hunk.first not in (run_anew or {}).get(name, ())]
            sentence = _what_none_has([function.__code__ for function in live], outside, name)
            if sentence:
                refused[name] = CompareError(sentence)
            for function in live:
                twin = twins.get((function.__code__.co_name, function.__code__.co_firstlineno))
                if twin is not None and len(twin.co_freevars) == len(function.__closure__ or ()):
                    before.append((function, function.__code__))
                    function.__code__ = twin
        with texts_known(texts), _compiled_anew(changes, texts) as anew:
            yield
        for name, refusal in refused.items():
            if name not in anew:
                raise refusal
    finally:
        for function, code in reversed(before):
            function.__code__ = code


@contextmanager
def texts_known(texts: Mapping[str, str]) -> Iterator[None]:
    """While the block runs, :mod:`linecache` has these texts, by the names under which they were compiled."""
    before = {name: linecache.cache.get(name) for name in texts}
    try:
        for name, text in texts.items():
            linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        yield
    finally:
        for name, entry in before.items():
            linecache.cache.pop(name, None)
            if entry is not None:
                linecache.cache[name] = entry


@contextmanager
def _compiled_anew(changes: Changes, texts: Mapping[str, str]) -> Iterator[set[str]]:
    """While the block runs, who compiles one of those texts gets the changed one; the names of those that were."""
    anew: set[str] = set()
    plain = builtins.compile

    def compiling(source: Any, filename: Any, *args: Any, **kwargs: Any) -> Any:
        name = os.fsdecode(filename) if isinstance(filename, (str, bytes, os.PathLike)) else ""
        if name in changes and isinstance(source, (str, bytes)):
            text = source if isinstance(source, str) else source.decode("utf-8", errors="replace")
            if [line.rstrip("\r") for line in text.rstrip("\n").split("\n")] == list(changes[name][0]):
                anew.add(name)
                source = texts[name]
        return plain(source, filename, *args, **kwargs)

    with attributes_set(builtins, compile=compiling):
        yield anew


def _compiled(text: str, name: str) -> CodeType:
    try:
        return compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        sentence = _("The changed text of {name} is no Python: {error}.")
        raise CompareError(sentence.format(name=name, error=error)) from None


def _twins(module: CodeType, hunks: list[Hunk], lines: tuple[str, ...]) -> dict[tuple[str, int], CodeType]:
    """Return the functions of the changed text by name and line of those that they stand for."""
    old_line = {moved(line, hunks): line for line in range(1, len(lines) + 1)}
    return {
        (code.co_name, old_line[code.co_firstlineno]): code
        for code in codes_within(module)
        if code.co_firstlineno in old_line and code is not module
    }


def _what_none_has(codes: list[CodeType], hunks: list[Hunk], name: str) -> str:
    """Return a sentence where a change is of a line that ran when a module was imported, or a class made; else
    empty."""
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
            text = _("Line {line} of {name} ran when its module was loaded, which a second run does not repeat.")
            return text.format(line=hunk.first, name=name.replace("\\", "/").rpartition("/")[2])
    return ""
